// unified-state in opencode: what a session says goes to our hook, what the hook gives goes into the conversation.
// Written by `unified-state install --host opencode`, which also replaces it; `uninstall` takes it away.
import { spawn } from "node:child_process"

const HOOK = [/* the hook */]
const LAST = [/* its last arguments */]
const MILLISECONDS = 15000

// One event to the hook; the context that it gives, or nothing. Whatever goes wrong, opencode goes on.
function tell(event, input) {
  return new Promise((resolve) => {
    try {
      const [program, ...args] = [...HOOK, event, ...LAST]
      const hook = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], timeout: MILLISECONDS })
      let output = ""
      hook.stdout.setEncoding("utf8").on("data", (text) => (output += text))
      hook.stdin.on("error", () => {})
      hook.on("error", () => resolve(""))
      hook.on("close", () => {
        try {
          resolve(output ? (JSON.parse(output).additionalContext ?? "") : "")
        } catch {
          resolve("")
        }
      })
      hook.stdin.end(JSON.stringify(input))
    } catch {
      resolve("")
    }
  })
}

export const UnifiedState = async ({ client, directory }) => {
  const children = new Set() // sessions of subagents
  const started = new Set()
  const restored = new Map() // what a session is given back after a compaction

  // The messages of a session so far; those that are archived already cost next to nothing.
  const messages = async (sessionID) => {
    try {
      return (await client.session.messages({ path: { id: sessionID } })).data ?? []
    } catch {
      return []
    }
  }
  const about = (sessionID, more) => ({ session_id: sessionID, cwd: directory, ...more })

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (children.has(sessionID)) return
      const said = await messages(sessionID)
      const texts = []
      if (!started.has(sessionID)) {
        started.add(sessionID)
        const source = said.length ? "resume" : "startup"
        texts.push(await tell("SessionStart", about(sessionID, { source, messages: said })))
      }
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      texts.push(await tell("UserPromptSubmit", about(sessionID, { prompt })))
      const text = texts.filter(Boolean).join("\n")
      if (text) {
        restored.delete(sessionID) // from now on it stands in the conversation itself
        const id = "prt_" + Date.now().toString(16) + Math.random().toString(36).slice(2, 12)
        parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
      }
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      if (children.has(sessionID)) return
      const keep = await tell("PreCompact", about(sessionID, { trigger: "auto", messages: await messages(sessionID) }))
      if (keep) output.context.push(keep)
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (restored.has(sessionID)) output.system.push(await restored.get(sessionID))
    },
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      if (event.type === "session.created" && info?.parentID) children.add(info.id)
      if (!sessionID || children.has(sessionID)) return
      if (event.type === "session.compacted") {
        const given = messages(sessionID).then((said) =>
          tell("SessionStart", about(sessionID, { source: "compact", messages: said })))
        restored.set(sessionID, given)
        await given
      } else if (event.type === "session.idle" && started.has(sessionID)) {
        await tell("Stop", about(sessionID, { messages: await messages(sessionID) }))
      }
    },
  }
}
