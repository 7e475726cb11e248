// Language of the page: the user's choice, else the browser's, else English. Other tables are chunks of their own.
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { en, type Messages } from "./en.ts";
import { createFormat, type Format } from "./format.ts";
import { pickLanguage, type Language } from "./language.ts";

const STORAGE_KEY = "hermes.language";

interface Words {
  readonly language: Language;
  readonly t: Messages;
  readonly format: Format;
  readonly setLanguage: (language: Language) => void;
}

const WordsContext = createContext<Words | null>(null);

async function loadTable(language: Language): Promise<Messages> {
  switch (language) {
    case "en":
      return en;
    case "zh-Hans":
      return (await import("./zh-hans.ts")).zhHans;
  }
}

export function WordsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(() =>
    pickLanguage(localStorage.getItem(STORAGE_KEY), navigator.languages),
  );
  const [loaded, setLoaded] = useState<{ language: Language; t: Messages } | null>(
    language === "en" ? { language, t: en } : null,
  );

  useEffect(() => {
    let current = true;
    void loadTable(language).then((t) => {
      if (current) setLoaded({ language, t });
    });
    return () => {
      current = false;
    };
  }, [language]);

  const words = useMemo<Words | null>(
    () =>
      loaded && {
        ...loaded,
        format: createFormat(loaded.language),
        setLanguage: (next) => {
          localStorage.setItem(STORAGE_KEY, next);
          setLanguage(next);
        },
      },
    [loaded],
  );

  useEffect(() => {
    if (loaded) document.documentElement.lang = loaded.language;
  }, [loaded]);

  return words && <WordsContext value={words}>{children}</WordsContext>;
}

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (words === null) throw new Error("useWords outside of WordsProvider");
  return words;
}
