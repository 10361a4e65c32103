"""What the product does with each kind of entry, attachment and hook event of Claude Code 2.1.332.

The reader and the page *Clients* take it from here. What stands nowhere comes from a newer client: its text is archived
as a notice, and `doctor` counts it.
"""

from __future__ import annotations

UNKNOWN = "unknown kind: "  # before the name of such an entry, in the place of a tool's name
TITLES = {  # kinds of entries that name a session, each with the field that does
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "agent-name": "agentName",
    "summary": "summary",
    "tag": "tag",
    "pr-link": "prUrl",
}
_CLIENTS_OWN = "left out: what the client keeps for itself"
_ENTRIES = {
    "steps of the conversation": "user assistant",
    "see below": "attachment system",
    "archived and searched as a notice, once": " ".join(TITLES),
    "a message that was typed while the agent worked, where no other entry has it": "queue-operation",
    "tells which part of the conversation was taken back": "last-prompt",
    "left out: copies of what other entries hold": "progress api-request api-request-blob api-request-shape "
    "api-request-resumed file-history-snapshot file-history-delta content-replacement",
    _CLIENTS_OWN: "agent-color agent-setting artifact-autoreact-ledger artifact-comment-monitor atis-latch "
    "attribution-snapshot bridge-session continued-in cost-state data-flow-incomplete data-flow-records derived-from "
    "dev-mods ended-by-model fork-context-ref frame-link history-suppression hybrid-organization isolation-latch "
    "memory-mode mode observer-ref permission-mode relocated repl-mode resume-head-vouch session-owner tools-used "
    "worktree-state",
}
_SYSTEM = {
    "the boundary of a compaction": "compact_boundary",
    _CLIENTS_OWN: "agents_killed api_error api_metrics away_summary bridge_status file_snapshot hook_progress "
    "informational instruction_size_warning local_command memory_saved microcompact_boundary model_fallback "
    "model_refusal_fallback permission_denied permission_retry post_turn_summary rewind_stand_in scheduled_task_fire "
    "stop_hook_summary task_notification task_progress task_started task_summary task_updated thinking turn_duration",
}
FILE, NEWS = "archived as an attachment, with the file's name", "archived as a notice: news for the agent"
_ATTACHMENTS = {
    "a message that was typed while the agent worked, or the end of a task": "queued_command",
    "shows that a text of ours reached the model": "hook_additional_context",
    FILE: "file already_read_file directory edited_text_file mcp_resource selected_lines_in_diff selected_lines_in_ide",
    NEWS: "agent_ask_notice claude_app_notice fork_briefing goal_status peer_mention plugin_note poll_events "
    "task_status teammate_mailbox",
    "left out: the client's words about its surroundings": "account_memory_recall advisor_stripped advisor_tool "
    "agent_listing_delta agent_mention artifact_opening_prefetch at_mention_reference auto_mode auto_mode_exit "
    "batching_reminder batching_reminder_sent budget_usd command_permissions compact_file_reference context_sections "
    "coordinator_context cowork_memory_context credential_org critical_system_reminder date deferred_tools_delta "
    "deferred_tools_record diagnostics dir_sync_notice dynamic_skill environment first_week inlined_image_paths "
    "instruction_files_not_loaded instructions invoked_skills language linked_plugin_tools_note max_turns_reached "
    "mcp_instructions_delta message_pdf_reads model nested_memory opened_file_in_ide output_limit_note output_style "
    "output_style_instructions pdf_reference plan_file_reference plan_mode plan_mode_exit plan_mode_reentry "
    "project_doc_reads projects_thread_ask prompt_as_file prompt_render_point prompt_snapshot read_truncation_notice "
    "relevant_memories remote_session_change repl_mcp_needs_auth repl_mcp_servers sandbox_instructions "
    "secondary_reminder secondary_reminder_sent session_context session_cron_carry silent_turn_reminder skill_listing "
    "structured_output task_reminder team_context thinking_drop thinking_stripped todo todo_reminder token_usage "
    "tool_host_result_lines tool_hosts_notice tool_offer_record tool_results_cut total_tokens_reminder "
    "ultra_effort_enter ultra_effort_exit unknown_command_fallback whole_texts_withdrawn "
    "workflow_size_guideline_change",
    "left out: what hooks gave the client": "async_hook_response hook_blocking_error hook_cancelled hook_deferred_tool "
    "hook_error_during_execution hook_non_blocking_error hook_permission_decision hook_stopped_continuation "
    "hook_success hook_system_message",
}
_EVENTS = (
    "PreToolUse PostToolUse PostToolUseFailure PostToolBatch PreSkillShellCommand Notification UserPromptSubmit "
    "UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact "
    "PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted "
    "Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged "
    "FileChanged DirectoryAdded MessageDisplay"
)
EVENTS = tuple(_EVENTS.split())


def _by_name(uses: dict[str, str]) -> dict[str, str]:
    return {name: use for use, names in uses.items() for name in names.split()}


ENTRIES, SYSTEM, ATTACHMENTS = _by_name(_ENTRIES), _by_name(_SYSTEM), _by_name(_ATTACHMENTS)
