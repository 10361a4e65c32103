CREATE TABLE schema_versions (
        id INTEGER PRIMARY KEY,
        version INTEGER UNIQUE NOT NULL,
        applied_at TEXT NOT NULL
      );
INSERT INTO "schema_versions" VALUES(1,4,'2026-11-22T13:41:51.676Z');
INSERT INTO "schema_versions" VALUES(2,5,'2026-11-22T13:41:51.677Z');
INSERT INTO "schema_versions" VALUES(3,6,'2026-11-22T13:41:51.677Z');
INSERT INTO "schema_versions" VALUES(4,7,'2026-11-22T13:41:51.679Z');
INSERT INTO "schema_versions" VALUES(5,8,'2026-11-22T13:41:51.680Z');
INSERT INTO "schema_versions" VALUES(6,9,'2026-11-22T13:41:51.681Z');
INSERT INTO "schema_versions" VALUES(7,10,'2026-11-22T13:41:51.681Z');
INSERT INTO "schema_versions" VALUES(8,11,'2026-11-22T13:41:51.682Z');
INSERT INTO "schema_versions" VALUES(9,16,'2026-11-22T13:41:51.682Z');
INSERT INTO "schema_versions" VALUES(10,17,'2026-11-22T13:41:51.682Z');
INSERT INTO "schema_versions" VALUES(11,20,'2026-11-22T13:41:51.682Z');
INSERT INTO "schema_versions" VALUES(12,21,'2026-11-22T13:41:51.682Z');
INSERT INTO "schema_versions" VALUES(13,22,'2026-11-22T13:41:51.683Z');
INSERT INTO "schema_versions" VALUES(14,23,'2026-11-22T13:41:51.695Z');
INSERT INTO "schema_versions" VALUES(15,24,'2026-11-22T13:41:51.696Z');
INSERT INTO "schema_versions" VALUES(16,26,'2026-11-22T13:41:51.696Z');
INSERT INTO "schema_versions" VALUES(17,27,'2026-11-22T13:41:51.697Z');
INSERT INTO "schema_versions" VALUES(18,29,'2026-11-22T13:41:51.698Z');
INSERT INTO "schema_versions" VALUES(19,30,'2026-11-22T13:41:51.698Z');
INSERT INTO "schema_versions" VALUES(20,31,'2026-11-22T13:41:51.703Z');
INSERT INTO "schema_versions" VALUES(21,28,'2026-11-22T13:41:51.704Z');
INSERT INTO "schema_versions" VALUES(22,32,'2026-11-22T13:41:51.704Z');
INSERT INTO "schema_versions" VALUES(23,33,'2026-11-22T13:41:51.704Z');
INSERT INTO "schema_versions" VALUES(24,34,'2026-11-22T13:41:51.706Z');
INSERT INTO "schema_versions" VALUES(25,35,'2026-11-22T13:41:51.706Z');
INSERT INTO "schema_versions" VALUES(26,39,'2026-11-22T13:41:51.707Z');
INSERT INTO "schema_versions" VALUES(27,41,'2026-11-22T13:41:51.717Z');
INSERT INTO "schema_versions" VALUES(28,42,'2026-11-22T13:41:51.717Z');
INSERT INTO "schema_versions" VALUES(29,44,'2026-11-22T13:41:51.717Z');
INSERT INTO "schema_versions" VALUES(30,45,'2026-11-22T13:41:51.717Z');
INSERT INTO "schema_versions" VALUES(31,46,'2026-11-22T13:41:51.718Z');
INSERT INTO "schema_versions" VALUES(32,47,'2026-11-22T13:41:51.719Z');
INSERT INTO "schema_versions" VALUES(33,48,'2026-11-22T13:41:51.719Z');
INSERT INTO "schema_versions" VALUES(34,49,'2026-11-22T13:41:51.727Z');
INSERT INTO "schema_versions" VALUES(35,50,'2026-11-22T13:41:51.728Z');
INSERT INTO "schema_versions" VALUES(36,51,'2026-11-22T13:41:51.728Z');
INSERT INTO "schema_versions" VALUES(37,52,'2026-11-22T13:41:51.729Z');
CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT,
        started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL,
        completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
      , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO "sdk_sessions" VALUES(1,'5a1e0000-0000-4000-8000-00000000cafe','2b1f0a00-1111-4222-8333-444455556666','project','claude','Add a login page with JWT','2026-11-22T13:41:51.732Z',1795354911732,NULL,NULL,'active',NULL,0,NULL,NULL,NULL);
INSERT INTO "sdk_sessions" VALUES(2,'99990000-0000-4000-8000-00000000cafe','3c2f0a00-1111-4222-8333-444455556666','another','claude','other project','2026-11-22T13:41:51.734Z',1795354911734,NULL,NULL,'active',NULL,0,NULL,NULL,NULL);
CREATE TABLE "user_prompts" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER,
        content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
INSERT INTO "user_prompts" VALUES(1,1,'5a1e0000-0000-4000-8000-00000000cafe',1,'Add a login page with JWT. Never log tokens.','2026-11-22T13:41:51.732Z',1795354911732,NULL,NULL,NULL,'1');
INSERT INTO "user_prompts" VALUES(2,2,'99990000-0000-4000-8000-00000000cafe',1,'A secret of another project','2026-11-22T13:41:51.734Z',1795354911734,NULL,NULL,NULL,'1');
CREATE TABLE "observations" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        text TEXT,
        type TEXT NOT NULL,
        title TEXT,
        subtitle TEXT,
        facts TEXT,
        narrative TEXT,
        concepts TEXT,
        files_read TEXT,
        files_modified TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO "observations" VALUES(1,'2b1f0a00-1111-4222-8333-444455556666','project',NULL,'decision','JWT chosen over sessions','stateless 登录 😀','["tokens live 15 minutes","refresh in a cookie"]','The login page uses JWT rather than sessions.','["how-it-works"]','["src/app.ts"]','["src/login.ts"]',1,'2026-11-22T13:40:01.000Z',1795354801000,120,'86dbecce5b8ca305','claude-haiku',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1');
INSERT INTO "observations" VALUES(2,'3c2f0a00-1111-4222-8333-444455556666','another',NULL,'bugfix','Elsewhere',NULL,'[]','Not of this project.','[]','[]','[]',1,'2026-11-22T13:40:03.000Z',1795354803000,1,'e1b264118923367c',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1');
CREATE TABLE "session_summaries" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        request TEXT,
        investigated TEXT,
        learned TEXT,
        completed TEXT,
        next_steps TEXT,
        files_read TEXT,
        files_edited TEXT,
        notes TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO "session_summaries" VALUES(1,'2b1f0a00-1111-4222-8333-444455556666','project','login page','src/app.ts','sessions are stored in memory','login page','write the tests','[]','["src/login.ts"]',NULL,1,'2026-11-22T13:40:02.000Z',1795354802000,50,NULL,NULL,NULL,NULL,'1');
CREATE TABLE tool_uses (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      tool_use_id TEXT NOT NULL,
      content_session_id TEXT NOT NULL,
      memory_session_id TEXT,
      session_db_id INTEGER,
      project TEXT NOT NULL,
      platform_source TEXT NOT NULL DEFAULT 'claude',
      tool_name TEXT NOT NULL,
      tool_input TEXT,
      tool_response TEXT,
      cwd TEXT,
      prompt_number INTEGER,
      agent_type TEXT,
      agent_id TEXT,
      observation_id INTEGER,
      or_generation_id TEXT,
      or_session_id TEXT,
      content_hash TEXT,
      created_at TEXT NOT NULL,
      created_at_epoch INTEGER NOT NULL,
      UNIQUE(content_session_id, tool_use_id)
    );
INSERT INTO "tool_uses" VALUES(1,'toolu_01','5a1e0000-0000-4000-8000-00000000cafe','2b1f0a00-1111-4222-8333-444455556666',1,'project','claude','Edit','{"file_path":"/repo/src/login.ts","old_string":"a","new_string":"b"}','ok','/repo',1,NULL,NULL,NULL,NULL,NULL,'b3589ea36ca2c93c','2026-11-22T13:40:00.500Z',1795354800500);
