// Line icons, 24 × 24, drawn in the text's colour. Decorative: the control beside carries the name.

const PATHS = {
  chat: "M4 5h16v11H9l-5 4z",
  sessions: "M5 4h14v16H5zM9 8h6M9 12h6M9 16h3",
  models: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  keys: "M14.5 9.5a4.5 4.5 0 1 0-3.2 4.3L13 15.5h2V18h2.5v2.5H21V17l-6.8-6.8M9 9h.01",
  config: "M4 7h9M17 7h3M4 17h3M11 17h9M13 4.5v5M7 14.5v5",
  logs: "M5 4h14v16H5zM8.5 9l2 2-2 2M12.5 14H16",
  analytics: "M4 20h16M7 20v-7M12 20V5M17 20v-10",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  attach: "M8 12.5l6.5-6.5a3 3 0 0 1 4.3 4.3L10.5 18.6a5 5 0 0 1-7-7l7.5-7.6",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5l4.5 4.5L19 7",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  error: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16h.01",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8h.01",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  trash: "M5 7h14M10 4h4M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  edit: "M5 19l1-4L16 5l3 3L9 18z",
  export: "M12 4v11M7.5 10.5L12 15l4.5-4.5M5 20h14",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  chevron: "M9 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  retry: "M5 12a7 7 0 1 0 2.5-5.4M5 4v4h4",
  undo: "M9 6L5 10l4 4M5 10h9a5 5 0 0 1 0 10h-3",
  terminal: "M4 5h16v14H4zM7.5 9.5l2.5 2.5-2.5 2.5M12.5 15H16",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  question:
    "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .9-1 1.7M12 16.5h.01",
  shield: "M12 3l7 3v5.5c0 4.5-3 8-7 9.5-4-1.5-7-5-7-9.5V6z",
  account: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  server: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01",
  flask: "M10 3h4M11 3v6l-5.5 10h13L13 9V3M8.5 14h7",
  dot: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  pause: "M9 6v12M15 6v12",
  play: "M8 5l11 7-11 7z",
  puzzle:
    "M10 4a2 2 0 0 1 4 0v2h4v4h2a2 2 0 0 1 0 4h-2v5h-5v-2a2 2 0 0 0-4 0v2H5v-5h2a2 2 0 0 0 0-4H5V6h5z",
  people:
    "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 19.5a6.5 6.5 0 0 1 13 0M16 5.5a3.5 3.5 0 0 1 0 6.5M18 14a6.5 6.5 0 0 1 3.5 5.5",
  palette:
    "M12 3a9 9 0 1 0 0 18c1.5 0 2-1 2-2s-1-1.5-1-2.5 1-2 2.5-2H18a3 3 0 0 0 3-3c0-4.5-4-8.5-9-8.5zM7.5 12h.01M9.5 8h.01M14.5 8h.01",
  spark: "M12 4l1.8 6.2L20 12l-6.2 1.8L12 20l-1.8-6.2L4 12l6.2-1.8z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className="shrink-0"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "dots" ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
