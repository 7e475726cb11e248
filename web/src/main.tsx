// Entry: theme first (no flash), then the live regions, the socket and the app.
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/app.css";
import "./styles/themes.css";
import { addLiveRegions } from "./app/announce.ts";
import { router } from "./app/router.tsx";
import { queries, startServices } from "./app/services.ts";
import { applyTheme, watchTheme } from "./app/theme.ts";
import { WordsProvider } from "./i18n/i18n.tsx";

applyTheme();
watchTheme();
addLiveRegions();
startServices();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <WordsProvider>
          <RouterProvider router={router} />
        </WordsProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
