// English words of the terminal page.
export const terminalEn = {
  title: "Terminal",
  screen: "Terminal screen",
  leave: "Alt+Shift+T leaves the terminal",
  left: "You left the terminal. Tab goes back into it.",
  screenReader: "Screen reader mode",
  openSession: "Open in the terminal",
  restart: "Start again",
  takeBack: "Take back",
  retry: "Try again",
  states: {
    connecting: "Connecting…",
    open: "Connected",
    waiting: "Reconnecting… The program goes on for a minute.",
    taken: "This terminal is open in another tab or window.",
    off: "The terminal is switched off.",
    "signed-out": "You are signed out.",
    failed: "The terminal cannot be opened.",
    full: "Too many terminals are open.",
  },
  ended: (code: string) => `The program ended (exit code ${code}).`,
  offText: "Its setting is dashboard.pty; the environment variable is HERMES_DASHBOARD_TUI.",
};
