// 终端页的中文。
import type { Messages } from "./en.ts";

export const terminalZh: Messages["terminal"] = {
  title: "终端",
  screen: "终端屏幕",
  leave: "按 Alt+Shift+T 离开终端",
  left: "您已离开终端。按 Tab 可返回。",
  screenReader: "屏幕阅读器模式",
  openSession: "在终端中打开",
  restart: "重新启动",
  takeBack: "取回",
  retry: "重试",
  states: {
    connecting: "正在连接…",
    open: "已连接",
    waiting: "正在重新连接… 程序会再运行一分钟。",
    taken: "此终端已在另一个标签页或窗口中打开。",
    off: "终端已关闭。",
    "signed-out": "您已退出登录。",
    failed: "无法打开终端。",
    full: "打开的终端太多。",
  },
  ended: (code) => `程序已结束（退出码 ${code}）。`,
  offText: "对应的设置是 dashboard.pty，环境变量是 HERMES_DASHBOARD_TUI。",
};
