// Colours in one place, and none where NO_COLOR is set.
import { Text } from "ink";
import { createContext, useContext, type ReactNode } from "react";
import type { Tone } from "./port.ts";

export const Colours = createContext(true);

export function Toned({
  tone,
  wrap = "wrap",
  children,
}: {
  readonly tone: Tone;
  readonly wrap?: "wrap" | "truncate-end";
  readonly children: ReactNode;
}) {
  const hasColours = useContext(Colours);
  if (tone === "dim" || tone === "bold") {
    return (
      <Text wrap={wrap} dimColor={tone === "dim"} bold={tone === "bold"}>
        {children}
      </Text>
    );
  }
  return hasColours ? (
    <Text wrap={wrap} color={tone}>
      {children}
    </Text>
  ) : (
    <Text wrap={wrap}>{children}</Text>
  );
}
