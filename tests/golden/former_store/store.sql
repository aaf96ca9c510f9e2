BEGIN TRANSACTION;
CREATE TABLE account (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	subject VARCHAR(255), 
	email VARCHAR(255), 
	is_organiser BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, closed_at DATETIME, 
	CONSTRAINT pk_account PRIMARY KEY (id), 
	CONSTRAINT uq_account_name UNIQUE (name), 
	CONSTRAINT uq_account_subject UNIQUE (subject), 
	CONSTRAINT uq_account_email UNIQUE (email)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0027');
CREATE TABLE annotation_item (
	id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	a_id INTEGER, 
	b_id INTEGER, 
	passage TEXT NOT NULL, 
	sub_question TEXT NOT NULL, 
	chance FLOAT, 
	gold INTEGER, 
	is_full BOOLEAN NOT NULL, 
	settled INTEGER, 
	settled_by TEXT NOT NULL, 
	settled_at DATETIME, adjudicated INTEGER, adjudicated_by TEXT DEFAULT '' NOT NULL, adjudicated_at DATETIME, 
	CONSTRAINT pk_annotation_item PRIMARY KEY (id), 
	CONSTRAINT fk_annotation_item_task_id_annotation_task FOREIGN KEY(task_id) REFERENCES annotation_task (id) ON DELETE CASCADE, 
	CONSTRAINT fk_annotation_item_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE, 
	CONSTRAINT fk_annotation_item_a_id_submission FOREIGN KEY(a_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_annotation_item_b_id_submission FOREIGN KEY(b_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT uq_annotation_item_task_id_position UNIQUE (task_id, position)
);
CREATE TABLE annotation_label (
	id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	b_first BOOLEAN NOT NULL, 
	value INTEGER, 
	spans JSON, 
	comment TEXT NOT NULL, 
	skip_reason TEXT, 
	held_until FLOAT NOT NULL, 
	shown_at FLOAT NOT NULL, 
	seconds FLOAT NOT NULL, 
	edits INTEGER NOT NULL, 
	is_aside BOOLEAN NOT NULL, 
	labelled_at DATETIME, text TEXT, is_excluded BOOLEAN DEFAULT false NOT NULL, 
	CONSTRAINT pk_annotation_label PRIMARY KEY (id), 
	CONSTRAINT fk_annotation_label_item_id_annotation_item FOREIGN KEY(item_id) REFERENCES annotation_item (id) ON DELETE CASCADE, 
	CONSTRAINT fk_annotation_label_person_id_annotation_person FOREIGN KEY(person_id) REFERENCES annotation_person (id) ON DELETE CASCADE, 
	CONSTRAINT uq_annotation_label_item_id_person_id UNIQUE (item_id, person_id)
);
CREATE TABLE annotation_person (
	id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	account_id INTEGER, 
	name VARCHAR(100) NOT NULL, 
	consented_at DATETIME, 
	aside_at DATETIME, 
	aside_reason TEXT, excluded_at DATETIME, excluded_reason TEXT, 
	CONSTRAINT pk_annotation_person PRIMARY KEY (id), 
	CONSTRAINT fk_annotation_person_task_id_annotation_task FOREIGN KEY(task_id) REFERENCES annotation_task (id) ON DELETE CASCADE, 
	CONSTRAINT fk_annotation_person_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE, 
	CONSTRAINT uq_annotation_person_task_id_name UNIQUE (task_id, name)
);
CREATE TABLE "annotation_task" (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	set_id INTEGER NOT NULL, 
	overlap INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	kind VARCHAR(16) NOT NULL, 
	scale VARCHAR(16) NOT NULL, 
	draw VARCHAR(16) NOT NULL, 
	shows_reference BOOLEAN NOT NULL, 
	open_to_all BOOLEAN NOT NULL, 
	consent TEXT NOT NULL, 
	instructions TEXT NOT NULL, 
	hold_minutes INTEGER NOT NULL, 
	round_id INTEGER, 
	CONSTRAINT pk_annotation_task PRIMARY KEY (id), 
	CONSTRAINT fk_annotation_task_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT fk_annotation_task_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT uq_annotation_task_name UNIQUE (name)
);
CREATE TABLE answer (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	contexts JSON NOT NULL, 
	no_answer BOOLEAN NOT NULL, thinking TEXT, tokens INTEGER, usd FLOAT, milliseconds FLOAT, 
	CONSTRAINT pk_answer PRIMARY KEY (id), 
	CONSTRAINT fk_answer_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE, 
	CONSTRAINT fk_answer_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT uq_answer_submission_id_question_id UNIQUE (submission_id, question_id)
);
INSERT INTO "answer" VALUES(1,1,1,'It rises because heat expands its gas. Thing 1 was built in 1911.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(2,1,2,'It rises because heat expands its gas. Thing 2 was built in 1912.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(3,1,3,'It rises because heat expands its gas. Thing 3 was built in 1913.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(4,1,4,'It rises because heat expands its gas. Thing 4 was built in 1914.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(5,1,5,'It rises because heat expands its gas. Thing 5 was built in 1915.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(6,1,6,'It rises because heat expands its gas. Thing 6 was built in 1916.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(7,2,1,'It rises because heat expands its gas [1]. It was built in 1911 [2].','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(8,2,2,'It rises because heat expands its gas [1]. It was built in 1912 [2].','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(9,2,3,'It rises because heat expands its gas [1]. It was built in 1913 [2].','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(10,2,4,'It rises because heat expands its gas [1]. It was built in 1914 [2].','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(11,2,5,'It rises because heat expands its gas [1]. It was built in 1915 [2].','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(12,2,6,'It rises because heat expands its gas [1]. It was built in 1916 [2].','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(13,3,1,'Heat expands its gas, so it rises.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(14,3,2,'Heat expands its gas, so it rises.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(15,3,3,'Heat expands its gas, so it rises.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(16,3,4,'Heat expands its gas, so it rises.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(17,3,5,'Heat expands its gas, so it rises.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(18,3,6,'Heat expands its gas, so it rises.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(19,4,1,'Nobody knows; perhaps the moon pulls it.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(20,4,2,'Nobody knows; perhaps the moon pulls it.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(21,4,3,'It was built in 1950.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(22,4,4,'Nobody knows; perhaps the moon pulls it.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(23,4,5,'Nobody knows; perhaps the moon pulls it.','[]',0,NULL,NULL,NULL,NULL);
INSERT INTO "answer" VALUES(24,4,6,'It was built in 1950.','[]',0,NULL,NULL,NULL,NULL);
CREATE TABLE application (
	id INTEGER NOT NULL, 
	team VARCHAR(100) NOT NULL, 
	title TEXT NOT NULL, 
	contact TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	channel VARCHAR(16) NOT NULL, 
	address VARCHAR(255) NOT NULL, 
	client VARCHAR(64) NOT NULL, 
	code VARCHAR(64), 
	state VARCHAR(16) NOT NULL, 
	account VARCHAR(100) NOT NULL, 
	expires_at DATETIME, 
	created_at DATETIME NOT NULL, 
	decided_at DATETIME, 
	decided_by TEXT NOT NULL, 
	decision TEXT NOT NULL, 
	CONSTRAINT pk_application PRIMARY KEY (id), 
	CONSTRAINT uq_application_code UNIQUE (code)
);
CREATE TABLE asking (
	id INTEGER NOT NULL, 
	retest_id INTEGER, 
	round_id INTEGER, 
	battle_id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	repeat INTEGER NOT NULL, 
	wording VARCHAR(120) NOT NULL, 
	turned BOOLEAN NOT NULL, 
	outcome VARCHAR(16), 
	preference VARCHAR(4), 
	score FLOAT, 
	flipped BOOLEAN, 
	detail TEXT NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cost_usd FLOAT NOT NULL, 
	judgments JSON NOT NULL, 
	asked_at DATETIME, 
	CONSTRAINT pk_asking PRIMARY KEY (id), 
	CONSTRAINT fk_asking_retest_id_retest FOREIGN KEY(retest_id) REFERENCES retest (id) ON DELETE CASCADE, 
	CONSTRAINT fk_asking_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT fk_asking_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE, 
	CONSTRAINT uq_asking_key UNIQUE ("key")
);
CREATE TABLE asking_hold (
	asking_id INTEGER NOT NULL, 
	seat_id INTEGER NOT NULL, 
	CONSTRAINT pk_asking_hold PRIMARY KEY (asking_id), 
	CONSTRAINT fk_asking_hold_asking_id_asking FOREIGN KEY(asking_id) REFERENCES asking (id) ON DELETE CASCADE, 
	CONSTRAINT fk_asking_hold_seat_id_seat FOREIGN KEY(seat_id) REFERENCES seat (id) ON DELETE CASCADE
);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	actor TEXT NOT NULL, 
	action VARCHAR(40) NOT NULL, 
	subject VARCHAR(250) NOT NULL, 
	team VARCHAR(100) NOT NULL, 
	detail JSON NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (id)
);
INSERT INTO "audit" VALUES(1,'2026-11-26 22:42:21.397761','operator','set-imported','set tiny','','{"questions": 6}');
INSERT INTO "audit" VALUES(2,'2026-11-26 22:42:23.991877','operator','team-added','team t','t','{}');
INSERT INTO "audit" VALUES(3,'2026-11-26 22:42:24.049984','operator','submission-added','submission 2','t','{"set": "tiny", "system": "full", "version": 1, "content": "394d3daf33a5"}');
INSERT INTO "audit" VALUES(4,'2026-11-26 22:42:26.645557','operator','submission-added','submission 3','t','{"set": "tiny", "system": "half", "version": 1, "content": "f67eb0ba88c6"}');
INSERT INTO "audit" VALUES(5,'2026-11-26 22:42:28.979502','operator','submission-added','submission 4','t','{"set": "tiny", "system": "off", "version": 1, "content": "cc5463940750"}');
INSERT INTO "audit" VALUES(6,'2026-11-26 22:42:36.702044','operator','round-created','round r','','{"battles": 27}');
INSERT INTO "audit" VALUES(7,'2026-11-26 22:42:47.346400','operator','board-published','board r','','{"content": "32315b32e790"}');
CREATE TABLE batch (
	name VARCHAR(64) NOT NULL, 
	endpoint TEXT NOT NULL, 
	batch_id TEXT NOT NULL, 
	keys JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_batch PRIMARY KEY (name)
);
CREATE TABLE battle (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	"key" VARCHAR(20) NOT NULL, 
	question_id INTEGER NOT NULL, 
	a_id INTEGER NOT NULL, 
	b_id INTEGER NOT NULL, 
	outcome VARCHAR(16), 
	preference VARCHAR(4), 
	score FLOAT, 
	flipped BOOLEAN, 
	detail TEXT NOT NULL, wave INTEGER DEFAULT '0', 
	CONSTRAINT pk_battle PRIMARY KEY (id), 
	CONSTRAINT fk_battle_a_id_submission FOREIGN KEY(a_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_battle_b_id_submission FOREIGN KEY(b_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_battle_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE, 
	CONSTRAINT fk_battle_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT uq_battle_round_id_key UNIQUE (round_id, "key")
);
INSERT INTO "battle" VALUES(1,1,'8a55d513efb7c2991d94',1,2,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(2,1,'43e9760759563787b7c2',1,3,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(3,1,'fff83a38b3124dfaed42',1,4,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(4,1,'d81f5730aeb2ce1d217b',2,2,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(5,1,'27499377c97e339ed50b',2,3,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(6,1,'c23f0b4acc81c982aff7',2,4,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(7,1,'e2ec4f804ee43f4b1990',2,2,3,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(8,1,'f889f006d3d575b35544',2,2,4,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(9,1,'cb8d1af2af21ea7a4684',2,3,4,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(10,1,'509345e42fd811438795',3,2,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(11,1,'289b7478e51929c876c5',3,3,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(12,1,'734cc8ccb7776bf0ad17',3,4,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(13,1,'a1d565372401b79defff',4,2,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(14,1,'561a900fb21b7f5d92fb',4,3,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(15,1,'3cd32ae66bc17d11071e',4,4,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(16,1,'be1c0f4c2509621252d2',5,2,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(17,1,'379226d830eab449db86',5,3,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(18,1,'1d76b84fd99afa620b95',5,4,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(19,1,'f8da89cc171e5ac2edaa',5,2,3,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(20,1,'2f1980fa61657861cdc4',5,2,4,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(21,1,'1acdd36b477ed8f73e19',5,3,4,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(22,1,'81700fc5da5fe15957d7',6,2,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(23,1,'e6925c454dbebed7c402',6,3,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(24,1,'adf1a34bf29c9319275e',6,4,1,'judged','b',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(25,1,'cb84967ad52463f66a6e',6,2,3,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(26,1,'cc14b5d568ab2bd3061f',6,2,4,'judged','a',NULL,NULL,'',0);
INSERT INTO "battle" VALUES(27,1,'5f519bb1beeb3058b13b',6,3,4,'judged','a',NULL,NULL,'',0);
CREATE TABLE battle_hold (
	battle_id INTEGER NOT NULL, 
	seat_id INTEGER NOT NULL, 
	CONSTRAINT pk_battle_hold PRIMARY KEY (battle_id), 
	CONSTRAINT fk_battle_hold_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE, 
	CONSTRAINT fk_battle_hold_seat_id_seat FOREIGN KEY(seat_id) REFERENCES seat (id) ON DELETE CASCADE
);
CREATE TABLE "board" (
	id INTEGER NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	round_id INTEGER, 
	standings JSON NOT NULL, 
	content_hash VARCHAR(64) NOT NULL, 
	notice TEXT NOT NULL, 
	retracted BOOLEAN NOT NULL, 
	published_at DATETIME NOT NULL, 
	replaced_at DATETIME, 
	CONSTRAINT pk_board PRIMARY KEY (id), 
	CONSTRAINT fk_board_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT uq_board_name UNIQUE (name)
);
INSERT INTO "board" VALUES(1,'r',1,'{"shape": 1, "name": "r", "title": "set", "partial": false, "judged_share": {"judged": 27, "expected": 27, "share": 1.0, "systems": {"reference": {"judged": 18, "expected": 18, "share": 1.0}, "full": {"judged": 12, "expected": 12, "share": 1.0}, "half": {"judged": 12, "expected": 12, "share": 1.0}, "off": {"judged": 12, "expected": 12, "share": 1.0}}}, "note": "", "reference": "reference", "reference_by": "", "domains": [{"id": "law", "label": "Law"}, {"id": "bio", "label": "Bio"}], "facts": {"round": "r", "question set": "set (tiny version 1)", "judge": "lexical", "model": "embedded", "judge hash": "2de618ffbce3f5f723141969a0d7b0087059ea5052eaf3833f4cdfbef40ed0f0", "pairs": "reference,complete:3", "seed": "0", "yardsticks": "the reference in 9 battles, the passages in 18 battles", "agreement with people": "On half of QA-Feedback''s human preferences, Pearson''s r is 0.37 (95 %: 0.31 to 0.44) between systems, held against the reference, and 0.23 (0.15 to 0.30) where an answer meets the reference, held against the passages: the weaker of its two uses.", "attack success rate": "50.0 % (1 of 2 canaries)", "finished": "2026-11-26"}, "health": {"planned": 27, "unreadable": 0, "both_orders": 0, "flips": 0, "attacks": {"judged": 2, "succeeded": 1}, "agreement": null}, "attempts": {"full": 1, "half": 1, "off": 1}, "outcomes": {"judged": 27, "unreadable": 0, "refused": 0, "failed": 0, "skipped": 0, "missing": 0}, "rating_settings": {"method": "bradley-terry", "interval": "bootstrap", "bootstrap": 1000, "cluster": "question", "seed": 0, "anchor": null, "weighting": "gamma", "bounds": "percentile", "prior_sd": null, "gradient_norm": null, "tie_parameter": null, "draws_without_estimate": 0}, "unrankable": "", "rate_settings": {"reference": "reference", "interval": "wilson on effective battles", "level": 0.95, "unused": 9}, "lines": {"overall": [{"system": "full", "rating": {"system": "full", "rating": null, "se": null, "lower": null, "upper": null, "rank": 1, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 12, "component": 0, "flags": ["unbounded"]}, "rate": {"system": "full", "domain": "overall", "battles": 6, "wins": 0, "ties": 0, "losses": 6, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.39033428790216534, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.39033428790216534, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 6}, "rate_against_all": null, "answers": 6, "no_answer_share": 0.0, "median_words": 14.0, "scores": {"citation-support": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 6, "undefined": 0}, "comprehensiveness-nli": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 6, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 6, "undefined": 0}}, "outcomes": {"judged": 12, "unreadable": 0, "refused": 0, "failed": 0, "skipped": 0, "missing": 0}, "badges": []}, {"system": "half", "rating": {"system": "half", "rating": null, "se": null, "lower": null, "upper": null, "rank": 2, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 12, "component": 0, "flags": ["unbounded"]}, "rate": {"system": "half", "domain": "overall", "battles": 6, "wins": 0, "ties": 0, "losses": 6, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.39033428790216534, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.39033428790216534, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 6}, "rate_against_all": null, "answers": 6, "no_answer_share": 0.0, "median_words": 7.0, "scores": {"comprehensiveness-nli": {"mean": 0.5, "lower": 0.5, "upper": 0.5, "answers": 6, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 6, "undefined": 0}}, "outcomes": {"judged": 12, "unreadable": 0, "refused": 0, "failed": 0, "skipped": 0, "missing": 0}, "badges": []}, {"system": "off", "rating": {"system": "off", "rating": null, "se": null, "lower": null, "upper": null, "rank": 3, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 12, "component": 0, "flags": ["never_wins"]}, "rate": {"system": "off", "domain": "overall", "battles": 6, "wins": 0, "ties": 0, "losses": 6, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.39033428790216534, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.39033428790216534, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 6}, "rate_against_all": null, "answers": 6, "no_answer_share": 0.0, "median_words": 7.0, "scores": {"comprehensiveness-nli": {"mean": 0.0, "lower": 0.0, "upper": 0.0, "answers": 6, "undefined": 0}, "factuality-fr3": {"mean": 0.0, "lower": 0.0, "upper": 0.0, "answers": 6, "undefined": 0}}, "outcomes": {"judged": 12, "unreadable": 0, "refused": 0, "failed": 0, "skipped": 0, "missing": 0}, "badges": []}, {"system": "reference", "rating": {"system": "reference", "rating": null, "se": null, "lower": null, "upper": null, "rank": 4, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 18, "component": 0, "flags": ["never_loses"]}, "rate": null, "rate_against_all": {"system": "reference", "domain": "overall", "battles": 18, "wins": 18, "ties": 0, "losses": 0, "win_rate": 1.0, "win_tie_rate": 1.0, "lower": 0.6096657120978346, "upper": 1.0, "mean_score": 1.0, "standard_error": 0.0, "win_tie_lower": 0.6096657120978346, "win_tie_upper": 1.0, "clustered_error": 0.0, "score_lower": 1.0, "score_upper": 1.0, "questions": 6}, "answers": 6, "no_answer_share": 0.0, "median_words": 13.0, "scores": {"comprehensiveness-nli": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 6, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 6, "undefined": 0}}, "outcomes": {"judged": 18, "unreadable": 0, "refused": 0, "failed": 0, "skipped": 0, "missing": 0}, "badges": []}], "law": [{"system": "full", "rating": null, "rate": {"system": "full", "domain": "law", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.5614970317550455, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 3}, "rate_against_all": null, "answers": 3, "no_answer_share": 0.0, "median_words": 14.0, "scores": {"citation-support": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}, "comprehensiveness-nli": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}, {"system": "half", "rating": null, "rate": {"system": "half", "domain": "law", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.5614970317550455, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 3}, "rate_against_all": null, "answers": 3, "no_answer_share": 0.0, "median_words": 7.0, "scores": {"comprehensiveness-nli": {"mean": 0.5, "lower": 0.5, "upper": 0.5, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}, {"system": "off", "rating": null, "rate": {"system": "off", "domain": "law", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.5614970317550455, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 3}, "rate_against_all": null, "answers": 3, "no_answer_share": 0.0, "median_words": 7.0, "scores": {"comprehensiveness-nli": {"mean": 0.0, "lower": 0.0, "upper": 0.0, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 0.0, "lower": 0.0, "upper": 0.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}, {"system": "reference", "rating": null, "rate": null, "rate_against_all": {"system": "reference", "domain": "law", "battles": 9, "wins": 9, "ties": 0, "losses": 0, "win_rate": 1.0, "win_tie_rate": 1.0, "lower": 0.43850296824495455, "upper": 1.0, "mean_score": 1.0, "standard_error": 0.0, "win_tie_lower": 0.43850296824495455, "win_tie_upper": 1.0, "clustered_error": 0.0, "score_lower": 1.0, "score_upper": 1.0, "questions": 3}, "answers": 3, "no_answer_share": 0.0, "median_words": 13.0, "scores": {"comprehensiveness-nli": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}], "bio": [{"system": "full", "rating": null, "rate": {"system": "full", "domain": "bio", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.5614970317550455, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 3}, "rate_against_all": null, "answers": 3, "no_answer_share": 0.0, "median_words": 14.0, "scores": {"citation-support": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}, "comprehensiveness-nli": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}, {"system": "half", "rating": null, "rate": {"system": "half", "domain": "bio", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.5614970317550455, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 3}, "rate_against_all": null, "answers": 3, "no_answer_share": 0.0, "median_words": 7.0, "scores": {"comprehensiveness-nli": {"mean": 0.5, "lower": 0.5, "upper": 0.5, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}, {"system": "off", "rating": null, "rate": {"system": "off", "domain": "bio", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "win_rate": 0.0, "win_tie_rate": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "mean_score": 0.0, "standard_error": 0.0, "win_tie_lower": 0.0, "win_tie_upper": 0.5614970317550455, "clustered_error": 0.0, "score_lower": 0.0, "score_upper": 0.0, "questions": 3}, "rate_against_all": null, "answers": 3, "no_answer_share": 0.0, "median_words": 7.0, "scores": {"comprehensiveness-nli": {"mean": 0.0, "lower": 0.0, "upper": 0.0, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 0.0, "lower": 0.0, "upper": 0.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}, {"system": "reference", "rating": null, "rate": null, "rate_against_all": {"system": "reference", "domain": "bio", "battles": 9, "wins": 9, "ties": 0, "losses": 0, "win_rate": 1.0, "win_tie_rate": 1.0, "lower": 0.43850296824495455, "upper": 1.0, "mean_score": 1.0, "standard_error": 0.0, "win_tie_lower": 0.43850296824495455, "win_tie_upper": 1.0, "clustered_error": 0.0, "score_lower": 1.0, "score_upper": 1.0, "questions": 3}, "answers": 3, "no_answer_share": 0.0, "median_words": 13.0, "scores": {"comprehensiveness-nli": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}, "factuality-fr3": {"mean": 1.0, "lower": 1.0, "upper": 1.0, "answers": 3, "undefined": 0}}, "outcomes": {}, "badges": []}]}, "head_to_head": {"systems": ["full", "half", "off", "reference"], "pairs": [{"system": "full", "opponent": "half", "battles": 3, "wins": 3, "ties": 0, "losses": 0, "rate": 1.0}, {"system": "full", "opponent": "off", "battles": 3, "wins": 3, "ties": 0, "losses": 0, "rate": 1.0}, {"system": "full", "opponent": "reference", "battles": 6, "wins": 0, "ties": 0, "losses": 6, "rate": 0.0}, {"system": "half", "opponent": "full", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "rate": 0.0}, {"system": "half", "opponent": "off", "battles": 3, "wins": 3, "ties": 0, "losses": 0, "rate": 1.0}, {"system": "half", "opponent": "reference", "battles": 6, "wins": 0, "ties": 0, "losses": 6, "rate": 0.0}, {"system": "off", "opponent": "full", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "rate": 0.0}, {"system": "off", "opponent": "half", "battles": 3, "wins": 0, "ties": 0, "losses": 3, "rate": 0.0}, {"system": "off", "opponent": "reference", "battles": 6, "wins": 0, "ties": 0, "losses": 6, "rate": 0.0}, {"system": "reference", "opponent": "full", "battles": 6, "wins": 6, "ties": 0, "losses": 0, "rate": 1.0}, {"system": "reference", "opponent": "half", "battles": 6, "wins": 6, "ties": 0, "losses": 0, "rate": 1.0}, {"system": "reference", "opponent": "off", "battles": 6, "wins": 6, "ties": 0, "losses": 0, "rate": 1.0}]}, "beside": [{"kind": "star", "ratings": [{"system": "full", "rating": null, "se": null, "lower": null, "upper": null, "rank": 1, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 6, "component": 0, "flags": ["never_wins"]}, {"system": "half", "rating": null, "se": null, "lower": null, "upper": null, "rank": 2, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 6, "component": 0, "flags": ["never_wins"]}, {"system": "off", "rating": null, "se": null, "lower": null, "upper": null, "rank": 3, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 6, "component": 0, "flags": ["never_wins"]}, {"system": "reference", "rating": null, "se": null, "lower": null, "upper": null, "rank": 4, "rank_lower": 1, "rank_upper": 4, "tie_group": 1, "letters": null, "battles": 18, "component": 0, "flags": ["never_loses"]}], "note": "From the battles against reference alone; ratings move by up to 0 points."}, {"kind": "length-controlled", "ratings": [], "note": "No two systems have ratings, so none can be controlled for style. Judge more battles."}, {"kind": "between-systems", "ratings": [], "note": "From the 9 battles between systems, without those against reference."}], "separations": [], "differences": {"systems": [], "pairs": []}, "fragility": {"questions": {"unit": "questions", "method": "bradley-terry", "pairs": [], "first_place": null, "unrated": ["full", "half", "off", "reference"]}, "battles": {"unit": "battles", "method": "bradley-terry", "pairs": [], "first_place": null, "unrated": ["full", "half", "off", "reference"]}}, "cycles": {"questions": 3, "triples": 12, "strict": 12, "cycles": 0, "share": 0.0, "lower": 0.0, "upper": 0.5614970317550455, "coin_flips": 0.25, "one_tie": 0, "one_tie_cycles": 0, "two_ties": 0, "consistence": {"questions": 3, "mean": 1.0, "coin_flips": 0.5, "lower": 1.0, "upper": 1.0}, "worst_questions": [], "worst_triples": [], "over_questions": {"triples": 4, "cycles": 0, "share": 0.0, "lower": null, "upper": null, "coin_flips": 0.25, "listed": []}, "star": {"reference": "reference", "places": [], "moved": []}}}','32315b32e790e331c6c63373cf2617cdecbcff7eb3ef93dc1e8372a3edb71810','',0,'2026-11-26 22:42:47.319983',NULL);
CREATE TABLE canary (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	battle_id INTEGER NOT NULL, 
	"key" VARCHAR(100) NOT NULL, 
	family VARCHAR(40) NOT NULL, 
	attacker VARCHAR(4) NOT NULL, 
	text TEXT NOT NULL, 
	outcome VARCHAR(16), 
	preference VARCHAR(4), 
	detail TEXT NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cost_usd FLOAT NOT NULL, 
	judgments JSON NOT NULL, 
	CONSTRAINT pk_canary PRIMARY KEY (id), 
	CONSTRAINT fk_canary_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE, 
	CONSTRAINT fk_canary_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT uq_canary_round_id_key UNIQUE (round_id, "key")
);
INSERT INTO "canary" VALUES(1,1,8,'f889f006d3d575b35544/canary/wrong-and-passages','wrong-and-passages','a','It rises because heat expands its gas [1]. It was built in 1912 [2].

Thing 2 rises because heat expands its gas.

Passage two says that thing 2 was built in 1912.','judged','a','',0,0,0.0,'[{"judge": "lexical", "model": "lexical-2", "presentation": "ab", "outcome": "judged", "preference": "a", "rationale": "{\"yardstick\":\"reference\",\"a\":{\"score\":0.8177,\"coverage\":1.0,\"padding\":0.4347,\"counts\":{\"covered\":2,\"missed\":0,\"beyond\":4,\"contradicted\":0},\"covered\":[{\"text\":\"It rises because heat expands its gas.\",\"passage\":\"reference\"},{\"text\":\"Thing 2 was built in 1912.\",\"passage\":\"reference\"}],\"missed\":[],\"beyond\":[{\"text\":\"Passage two says that thing 2 was built in 1912.\"},{\"text\":\"Thing 2 rises because heat expands its gas.\"},{\"text\":\"It rises because heat expands its gas.\"},{\"text\":\"It was built in 1912.\"}],\"contradicted\":[]},\"b\":{\"score\":0.0,\"coverage\":0.0,\"padding\":1.0,\"counts\":{\"covered\":0,\"missed\":2,\"beyond\":0,\"contradicted\":0},\"covered\":[],\"missed\":[{\"text\":\"It rises because heat expands its gas.\",\"passage\":\"reference\"},{\"text\":\"Thing 2 was built in 1912.\",\"passage\":\"reference\"}],\"beyond\":[],\"contradicted\":[]},\"parts\":[{\"kind\":\"sentence\",\"text\":\"It rises because heat expands its gas.\",\"passage\":\"reference\",\"a\":0.6171,\"b\":0.0},{\"kind\":\"sentence\",\"text\":\"Thing 2 was built in 1912.\",\"passage\":\"reference\",\"a\":0.4136,\"b\":0.0},{\"kind\":\"said of the passages\",\"a\":0.1819,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"Passage two says that thing 2 was built in 1912.\",\"a\":-0.0731,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"Thing 2 rises because heat expands its gas.\",\"a\":-0.0583,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"It rises because heat expands its gas.\",\"a\":-0.0557,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"It was built in 1912.\",\"a\":-0.034,\"b\":0.0}]}", "detail": "", "settings": "{\"yardstick\": \"reference\", \"topic\": 0.1, \"kin\": 0.5, \"words\": 0.7, \"sentences\": 0.2, \"pairs\": 0.1, \"passages\": 0.15, \"chance\": 0.1, \"full\": 0.6, \"recall\": 1.5, \"recall_of_passages\": 1.25, \"neighbours\": 0.2, \"direction\": 0.5, \"doubt\": 8.0, \"copied\": 0.2, \"copied_lengths\": 1.5, \"length_free\": 60, \"copies\": 1.5, \"least_copied\": 30, \"length\": 0.4, \"least_length\": 50, \"yes_no\": 0.15, \"contradiction\": 0.15, \"most_contradictions\": 3.0, \"name\": 0.04, \"most_names\": 3, \"tie_band\": 0.001, \"scale\": 0.3, \"covered_from\": 0.5, \"questions\": 256, \"answers\": 4096}", "prompt_hash": "", "parser": "", "calls": 0, "reply_key": null, "cached": false, "input_tokens": 0, "output_tokens": 0, "cost_usd": null}]');
INSERT INTO "canary" VALUES(2,1,6,'c23f0b4acc81c982aff7/canary/tripled','tripled','a','It rises because heat expands its gas. Thing 2 was built in 1912.

It rises because heat expands its gas. Thing 2 was built in 1912.

It rises because heat expands its gas. Thing 2 was built in 1912.','judged','b','',0,0,0.0,'[{"judge": "lexical", "model": "lexical-2", "presentation": "ab", "outcome": "judged", "preference": "b", "rationale": "{\"yardstick\":\"passages\",\"a\":{\"score\":0.5427,\"coverage\":0.9074,\"padding\":0.6667,\"counts\":{\"covered\":2,\"missed\":0,\"beyond\":4,\"contradicted\":0},\"covered\":[{\"text\":\"Thing 2 rises because heat expands its gas.\",\"passage\":\"q2-p0\"},{\"text\":\"Passage two says that thing 2 was built in 1912.\",\"passage\":\"q2-p1\"}],\"missed\":[],\"beyond\":[{\"text\":\"It rises because heat expands its gas.\"},{\"text\":\"It rises because heat expands its gas.\"},{\"text\":\"Thing 2 was built in 1912.\"},{\"text\":\"Thing 2 was built in 1912.\"}],\"contradicted\":[]},\"b\":{\"score\":0.9414,\"coverage\":0.9074,\"padding\":0.0,\"counts\":{\"covered\":2,\"missed\":0,\"beyond\":0,\"contradicted\":0},\"covered\":[{\"text\":\"Thing 2 rises because heat expands its gas.\",\"passage\":\"q2-p0\"},{\"text\":\"Passage two says that thing 2 was built in 1912.\",\"passage\":\"q2-p1\"}],\"missed\":[],\"beyond\":[],\"contradicted\":[]},\"parts\":[{\"kind\":\"beyond\",\"text\":\"It rises because heat expands its gas.\",\"a\":-0.259,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"It rises because heat expands its gas.\",\"a\":-0.259,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"Thing 2 was built in 1912.\",\"a\":-0.1755,\"b\":0.0},{\"kind\":\"beyond\",\"text\":\"Thing 2 was built in 1912.\",\"a\":-0.1755,\"b\":0.0},{\"kind\":\"rest\",\"a\":2.0517,\"b\":2.0517}]}", "detail": "", "settings": "{\"yardstick\": \"passages\", \"topic\": 0.1, \"kin\": 0.5, \"words\": 0.7, \"sentences\": 0.2, \"pairs\": 0.1, \"passages\": 0.15, \"chance\": 0.1, \"full\": 0.6, \"recall\": 1.5, \"recall_of_passages\": 1.25, \"neighbours\": 0.2, \"direction\": 0.5, \"doubt\": 8.0, \"copied\": 0.2, \"copied_lengths\": 1.5, \"length_free\": 60, \"copies\": 1.5, \"least_copied\": 30, \"length\": 0.4, \"least_length\": 50, \"yes_no\": 0.15, \"contradiction\": 0.15, \"most_contradictions\": 3.0, \"name\": 0.04, \"most_names\": 3, \"tie_band\": 0.001, \"scale\": 0.3, \"covered_from\": 0.5, \"questions\": 256, \"answers\": 4096}", "prompt_hash": "", "parser": "", "calls": 0, "reply_key": null, "cached": false, "input_tokens": 0, "output_tokens": 0, "cost_usd": null}]');
CREATE TABLE canary_hold (
	canary_id INTEGER NOT NULL, 
	seat_id INTEGER NOT NULL, 
	CONSTRAINT pk_canary_hold PRIMARY KEY (canary_id), 
	CONSTRAINT fk_canary_hold_canary_id_canary FOREIGN KEY(canary_id) REFERENCES canary (id) ON DELETE CASCADE, 
	CONSTRAINT fk_canary_hold_seat_id_seat FOREIGN KEY(seat_id) REFERENCES seat (id) ON DELETE CASCADE
);
CREATE TABLE cheap_verdict (
	battle_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	outcome VARCHAR(16), 
	share FLOAT, 
	detail TEXT NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cost_usd FLOAT NOT NULL, 
	judgments JSON NOT NULL, 
	CONSTRAINT pk_cheap_verdict PRIMARY KEY (battle_id, place), 
	CONSTRAINT fk_cheap_verdict_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE, 
	CONSTRAINT fk_cheap_verdict_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE
);
CREATE TABLE concern (
	id INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	"key" TEXT NOT NULL, 
	text TEXT NOT NULL, 
	evidence JSON NOT NULL, 
	submission_id INTEGER, 
	round_id INTEGER, 
	battle_id INTEGER, 
	judge VARCHAR(100) NOT NULL, 
	presentation VARCHAR(2), 
	raised_by VARCHAR(100) NOT NULL, 
	reporter VARCHAR(64) NOT NULL, 
	decision VARCHAR(20) NOT NULL, 
	reason TEXT NOT NULL, 
	decided_by VARCHAR(100) NOT NULL, 
	decided_at DATETIME, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_concern PRIMARY KEY (id), 
	CONSTRAINT fk_concern_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT uq_concern_key UNIQUE ("key"), 
	CONSTRAINT fk_concern_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE, 
	CONSTRAINT fk_concern_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE
);
CREATE TABLE control (
	id INTEGER NOT NULL, 
	set_id INTEGER NOT NULL, 
	judge VARCHAR(64) NOT NULL, 
	battle_id INTEGER NOT NULL, 
	CONSTRAINT pk_control PRIMARY KEY (id), 
	CONSTRAINT fk_control_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT fk_control_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE, 
	CONSTRAINT uq_control_set_id_judge_battle_id UNIQUE (set_id, judge, battle_id)
);
CREATE TABLE delivery (
	id INTEGER NOT NULL, 
	event_id INTEGER NOT NULL, 
	subscription_id INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	attempts INTEGER NOT NULL, 
	next_at FLOAT NOT NULL, 
	claim VARCHAR(40) NOT NULL, 
	status INTEGER, 
	error TEXT NOT NULL, 
	delivered_at DATETIME, 
	CONSTRAINT pk_delivery PRIMARY KEY (id), 
	CONSTRAINT fk_delivery_event_id_event FOREIGN KEY(event_id) REFERENCES event (id) ON DELETE CASCADE, 
	CONSTRAINT fk_delivery_subscription_id_subscription FOREIGN KEY(subscription_id) REFERENCES subscription (id) ON DELETE CASCADE
);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	uid VARCHAR(40) NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	"key" TEXT, 
	team VARCHAR(100) NOT NULL, 
	path TEXT NOT NULL, 
	data JSON NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT uq_event_uid UNIQUE (uid), 
	CONSTRAINT uq_event_key UNIQUE ("key")
);
INSERT INTO "event" VALUES(1,'e81e1957970049c1a538b925122a453b','submission.accepted',NULL,'t','/team','{"submission": 2, "set": "tiny", "system": "full", "version": 1, "holds": "answers", "team": "t"}','2026-11-26 22:42:24.046661');
INSERT INTO "event" VALUES(2,'180b5fa56b294a34a460cbb116460ce8','submission.accepted',NULL,'t','/team','{"submission": 3, "set": "tiny", "system": "half", "version": 1, "holds": "answers", "team": "t"}','2026-11-26 22:42:26.641806');
INSERT INTO "event" VALUES(3,'c6b3b7363fd84cf3be6386a431d946f1','submission.accepted',NULL,'t','/team','{"submission": 4, "set": "tiny", "system": "off", "version": 1, "holds": "answers", "team": "t"}','2026-11-26 22:42:28.974679');
INSERT INTO "event" VALUES(4,'84ea64bd687c4394a8b437c926a191c0','submission.judged','judged 1 2','t','/team','{"submission": 2, "set": "tiny", "system": "full", "version": 1, "team": "t", "round": "r"}','2026-11-26 22:42:39.469907');
INSERT INTO "event" VALUES(5,'40a680a3b42347f9a5a542b734e59722','submission.judged','judged 1 3','t','/team','{"submission": 3, "set": "tiny", "system": "half", "version": 1, "team": "t", "round": "r"}','2026-11-26 22:42:39.473538');
INSERT INTO "event" VALUES(6,'9f640a2915b24fd981b39789c2497425','submission.judged','judged 1 4','t','/team','{"submission": 4, "set": "tiny", "system": "off", "version": 1, "team": "t", "round": "r"}','2026-11-26 22:42:39.474419');
INSERT INTO "event" VALUES(7,'1ae036c1c2fe4ec4b915e5c1a84328fa','board.published',NULL,'','/leaderboard.html?board=r','{"board": "r", "round": "r", "content_hash": "32315b32e790e331c6c63373cf2617cdecbcff7eb3ef93dc1e8372a3edb71810"}','2026-11-26 22:42:47.342490');
CREATE TABLE job (
	id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	round_id INTEGER, 
	state VARCHAR(16) NOT NULL, 
	payload JSON NOT NULL, 
	result JSON, 
	priority INTEGER NOT NULL, 
	workers INTEGER NOT NULL, 
	owner VARCHAR(100) NOT NULL, 
	attempts INTEGER NOT NULL, 
	most_attempts INTEGER NOT NULL, 
	not_before FLOAT NOT NULL, 
	error TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	CONSTRAINT pk_job PRIMARY KEY (id), 
	CONSTRAINT fk_job_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE
);
INSERT INTO "job" VALUES(1,'judge',1,'done','{}',NULL,0,1,'host:1',0,3,0.0,'','2026-11-26 22:42:36.728968','2026-11-26 22:42:36.741784','2026-11-26 22:42:39.475190');
CREATE TABLE judgment (
	id INTEGER NOT NULL, 
	battle_id INTEGER NOT NULL, 
	judge VARCHAR(100) NOT NULL, 
	model TEXT NOT NULL, 
	endpoint TEXT NOT NULL, 
	presentation VARCHAR(2) NOT NULL, 
	outcome VARCHAR(16) NOT NULL, 
	preference VARCHAR(4), 
	margin FLOAT, 
	rationale TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	grade TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	prompt_hash VARCHAR(64) NOT NULL, 
	parser TEXT NOT NULL, 
	calls INTEGER NOT NULL, 
	reply_key VARCHAR(64), 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cost_usd FLOAT, 
	latency FLOAT NOT NULL, 
	cached BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, earlier_keys JSON, 
	CONSTRAINT pk_judgment PRIMARY KEY (id), 
	CONSTRAINT fk_judgment_battle_id_battle FOREIGN KEY(battle_id) REFERENCES battle (id) ON DELETE CASCADE
);
INSERT INTO "judgment" VALUES(1,13,'lexical','lexical-2','','ab','judged','b',0.068,X'FFED9ABF0A03210CC6DFA57B25C628F12D3A742B0E9D6E6DB9A193EF5ECD15FFDCF540B88EDD0441C9670CFE3E33889BECD8F7C4C9A05D079DF0153AB1422754E88441E8BCCAF526E92C984B2ACADF72AAF1D227924D8BE93EAB8E4F9F747E400BA997654A2A5129A2CB87775AFE25E6456E4F4DAF20ED356D57D3A7186A28094A4B2C79DC07730B5188BED58FBD59E967C0FEF5DBD76FC09A39169DA4382A6420392D5406AD6B2C9AED863F50E163F9389D6F8FB83ECE90DD31868ACD94BD8318E21B','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(2,14,'lexical','lexical-2','','ab','judged','b',0.4654,X'FFB55ABB0EC3200CFC97CE2DB27924E62F3A74AB1832656D95A113FF5E7054881B55A16ABA239FEE008B3BDC68377B43D2707646A3F09CB0E539B17A4E68F49C17BEDD96070BA67212F96B39B5781E13C999C5384C4AD8D3BB3DDDE0104305AF35CFF32AEE49A59DCE5FDF09E9C131461E544DEF21F468D785910BBFA8247BFAC6E51A22FBF9857A44DE48F9C8806B904F5706F0BD7C7B503DFE6333B6F56B0866766027D21C508E3AB78868D690BF49C0685AE91E8801B542EBE943265412A61C1BC4109F','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(3,15,'lexical','lexical-2','','ab','judged','b',0.9947,X'FF23B2BB6980DADD3440EA6E1A422431BA9B0688EEA611A2BB6980BFBB198BD084E87A868033B909787D41313C4182679881253D78B50868E8223DB1580FA5975A68A25B6080DC550D804881CB2378510A99F6061A5F0E1EC2002D5205B6850C2D0D4D304D3354AA8D45F805E45A54CF44C7D682FBF24821676161698C1A7816C606A8DD75ECE16784080A03A2C36FD086193C5609871F11833294F90E6510C740CFDCC2D014696406D3362A04019A954686C646B5B1B500','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(4,22,'lexical','lexical-2','','ab','judged','b',0.068,X'FFED9ABF0E02210CC6DFC55DD2C2D194B77070330C4EAE9A1B9C787769CFF0E7CE4B487474232181F4A334FC3E3A889B4C1C7AE26440EAA0133E42A7ADD009153A61103ACF7ABD493B0BE6928AFAB79C6BBCF689886971BBCEA6E3D3071DEFD042EA6999D24A548AE8F2E19D977FAA7921EDA9F915840169BB1A1E52ACA164282DB1C8B80FE61293127DAB1F07B7D2CF81FFEBB7AFDF8035F35D749AE2D65886494FCB1A673D3516CD76C31FA8F0B67C08E5F6A8EB436EF23BC650B199C43B4831BD00','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(5,23,'lexical','lexical-2','','ab','judged','b',0.4654,X'FFB55A310EC3200CFC4BE716D9A610F38B0ED92A864C5D5B65E8C4DF0B8E0AA15114AAA63BF2E90EB0B8C38D76B3D35C1B4EAB092BCF095B9E138BE78446CFD9CBEDB6325830E693285FCBB1C5CB9848CA2C6EC3A82A7BFAB0A73B1C822FE0A5E6655A253D29B7D3E9EB3B223D25C64883AAF13D840EEDB2304AE13795684F3FB85C7D103F3F538FD9E95A3ED6601AE4A3C200BE976F0FAAC77F6CC6B67E0DC1CC0EECAA340794616B6611CD12F23709048D1475C002480ACF8E5732A19C30A5D820F8F002','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(6,24,'lexical','lexical-2','','ab','judged','b',0.9878,X'FFCD9AB10EC2201086DFC55D7240417804370737C3E0E4AAA98913EF2E5C2BC7B5A421D1C1B985E37EE8A5DFCF75E2A65466419CE006C7A0D334A113083A1541A7DC86CE40830840CFF8A95BEC3218CBB1C47BE654EFB167241B18B7EB2818AB3EECFE0E35B09EA64758954A419D2EBFD3F42F343272AB6AFA23925EDAF56C721703E5422B3C3E97A30D087C97277B091189BFD2D739AFB9BE4E03877A68EAAB482AA0354127D4FF9BA665D76B7DDBFA755837DF65C7AC1E101EB4A9FC9B75B41F4830879487BCF518550DD66C584CED13F7F19D009C2ED653886F','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(7,25,'lexical','lexical-2','','ab','judged','a',-0.7495,X'FFAD9AB112832010447F28C3DC81A0F707499F2E43912A93DA9A7F8F9C8C70041332A6B3915D571D79EBEDE3B4E44DB21571D26850402734A15367E8840C9DD0099D577EBD1DB70AEBFCE8B24D4142A7048E66DB05975ED68184797B82F997F4F269E0F192D8753CEEF3EE3A3EFB5E0874331E8FA5F39B0F8CEF4556CE695BE1F9648D0C4BA3FB06E99865B133AFFF5DF3815B50C6B52D736E1839C542F2992C2B3EB1916D4747F3B3C754BC4CDA50A39B791738942B8BA13248238BA11A9C1D4ABD381E9376E7B2F00165803059D483193FD44D1D09D7ED1580A5E0C30B','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(8,26,'lexical','lexical-2','','ab','judged','a',-0.9853,X'FFAD9A4112C2200C456FD449D00239827B774E17AE3C40D7DEDD90222448479CBAEBA290CFA7C3F07EB38FD39637696E8893C2090D7442173A5D854EA8D00983D079D99A0AD6F215CA6F653EDEA54524E5158FFB3A1934AD4B508C7A9563C24B3AB1F5A1F2750709FDEED8A5EA66022DC2D3B3557E5B9E82EFCA2B872158B350ECD3844EDF101D6B511C74EBD82AFF64BA364B4FD9889A6192773B660E84328724E6D4C5474F9D6026B1E1FBAA6CD317DE460F6508063DE843E1CF7B914B9C5D8CB9842353A38D97FA9EB60115EB4CB1D20B','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(9,27,'lexical','lexical-2','','ab','judged','a',-0.902,X'FFB59A411283200C452FD461484A506E50F7DD392EBAEA746DB7DCBD108B18516BEBF40084F0090CFF91753B2DFDA6B54833CB59D359B84E8D603F194FC8C613761ACF66682CE8C74AE4AFE570C5739B486416F75BAF843DCDCBF05D9E3B87BCF2AD6119560C6DA9E1F5030EEC569894770E735948E41421DBE39DB2E28172956DE7D9EE4FB445A82AA92D3832D2D1BB3F28FB930CA59A8737A854B679CE9322BD2AE60E887328453E0AA080C82D809C72B2AF65155029ECB5C129568A6635BDDD250E8A7582091E69A47A03462D2B3AC7591AADD908B2A3E013F3D2DA54A35A9D7F01','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(10,16,'lexical','lexical-2','','ab','judged','b',0.068,X'FFED9ABF0E02210CC6DFC55D52CAB5296FE1E066189C5C353738F1EE42CFF0E7CE4B487474232181F4A334FC3E3A889BC2E27BE214B0DC41277C844EACD009153A61103ACF7ABD493B0BE6928AFAB79C6ABCF68964D3E2769D4DC7A70F3ADEA185D4D332A595A814D1E5C33B2DFF54F322B7A7A65790F596B6ABD9430C359404A525963CEE83B984A844DFEA27DEADF473407FFDF6F51BB066BE8B4E531C0D0A4C7A5A681C123716CD76C31FA8F0B67CD8E6DBA3AE0FBB89768CA1623365EF2086F802','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(11,17,'lexical','lexical-2','','ab','judged','b',0.4654,X'FFB55A310EC2300CFC0B334476825BE7170CDD500626565007A6FC9DC415494D851A44D9239FEE9258B98B1BED66EF581BCECE59549E13D63C2756CF098D9E7390DB4D3258309693285FCBA9C5CB9848CE2CAE97D1287B7AA7C30D763154F05AF334AD929E54DAE9F4F59D901E1263E441D5F41E428FB42C8C52F84525D9D3372EE710C5CFCFD463F64ECBC70EA8413E5B19C0F7F26D4175FF8FCD58D7AF2198D9809D4A73C01077348B689690BF492068D6D81E5800ADC1A3E70F99504998726C10437C02','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(12,18,'lexical','lexical-2','','ab','judged','b',0.9947,X'FF23B2BB6980DADD3440EA6E1A422431BA9B0688EEA611A2BB6980BFBB198BD084E87A868033B929787D41313C4182679881253D78B50868E8223DB1580FA5975A68AA5B6080DC550D804881CB2378510A99F6061A5F0E1EC2002D5205B6850C2D0D4D314D3354AA8D45F805E45A54CF44C7D682FBF24821676161698C1A7816C606A8DD75ECE16784080A03A2C36FD086193C5609871F11833294F90E6510C740CFDCC2D014696406D3362A04019A954686C646B5B1B500','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(13,19,'lexical','lexical-2','','ab','judged','a',-0.7495,X'FFAD9ABD12823010845FC8C9DC255CE0DE407B3B87C2CAB1A6E6DD4D8E4CFE0C1A073B1AB2CB0243BEE5F671BAE44DA68A38793458402734A15327E884049DD0099D5779BD495A856D7ED46D5390915481A3C976C6A5976D2061894FB0FC92769F06192FF15DC7E3BEECAE3327DF8E40A3717F5C3ABFCDABE07B9695B59A2A3C9FC8946169B4DF201D932C76E6F5BF6B3E700BF2B8E232E78691932F249FC1B292131BD97674343F7B0CC5CBA40D37BA99778143B98A182A833C8A18AAC1D290EBF9F198B03B2F0B1F50061883453D98F143DDD49170DD5E0110AFF3FA02','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(14,20,'lexical','lexical-2','','ab','judged','a',-0.9965,X'FFCD9A310EC3200C456F14D950A7E108D9BB450C9D7A80CCDCBDE09018A7D05275E99605D97C4588F7701BA7356F3A3A11A7BB5A54D00955E834029D20D0099DD0396F4305EBF117F2B3723CDE794424F98AC77D1D149ACA160A46BDF131416C27B639D478DD4187D45CEBA5EF48A047E3E95B77BEF8C0F85E64053A292862C2464C20E54C774C658FFF11D987983A74CB4FED679F4276AC2997D7625FEF711736F632D50AA431977CCBD6E206063434BED540D910EC6209820F4F','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(15,21,'lexical','lexical-2','','ab','judged','a',-0.9761,X'FFAD9A310EC3200C452F14211B0A851BB47BB78AA153D53933776F30218E539A22A57384F9FE4288F7E3EF382D79D3396D37C8E9AD11D4091ADD2FF044064FEC04CF6B192C18979348BF96A72B9EC6447266F17C8C4AE029B79122EFCD256F746B580A2BCA58EAF4FAC18076AF4CD5CD652E0D21430ED95EB364450B6597F79808F757DE82341656AE62F9F86129705B9AA5C1BEA54D2F8ED93BFCC9D3B64D1DF1CC21F973FEE24DF08D882653627D34CB1C06149A706E2CD946401D27A4864400E6B4548CE90D','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(16,4,'lexical','lexical-2','','ab','judged','b',0.0698,X'FF23B2BB69696480D6E3B43037B540E9741A60ED741A213A9D06884EA701919DCE1070F63602AF2C28862745F0DC32B08C07AF13010D5AA42716EBA1F44F0B8D740B0C903BA90110297049042F442113DE40E3CBC18317A0E5A9C05690A125B03787619AA1526D2CC22BC04E29DC2F2036AA67A2636BC13D7AE4F03331440B3F4B037393D1F0C31D7E440CCD50E63B701237D2333134034716906566843C9C83691F1502013AE2636662011DF331333734AF8DAD0500','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(17,5,'lexical','lexical-2','','ab','judged','b',0.4776,X'FF23B2BB696E618AD6E334B3343043E9741A10EA741A223A9D0644763A43C0D9DB08BCB2A0189E14C173CBC0321EBC4E043468919E58AC87D23F2D34D22D3050AA8D45588E303300A20A5C28C1CB53C8DC37D0A672F0380668A52AB041646809ECD861186C083618E61560FF14CD2FD1B1B5E00E3D52F0599A18A2059FA581B90911C16784F08101E9C1470DAFEAD0223208871F11233354F01DCA700E304D1B9A5B228DD1605A495910806D33D2333130858CF818E9199999D6C6D60200','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(18,6,'lexical','lexical-2','','ab','judged','b',0.9962,X'FF23B2BB6980DADD3440EA6E1A422431BA9B0688EEA611A2BB6980BFBB198BD084E87A868033B911787D41313C4182679881253D78B50868E8223DB1580FA5975A68A45B6080DC550D804881CB2378510A99F6061A5F0E1EC2002D5205B6850C2D817D3A0CD30C956A63117E01B916D533D1B1B5E0BE3C52C8599A18A2F5D52D0DCC4D50BAEBD8C3CF081114064487DFA00D3378AC120E3F22066528F31DCA208E819EB9859139D2C80CA66D540802342B8D0C8D4D6B636B01','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(19,7,'lexical','lexical-2','','ab','judged','a',-0.7529,X'FFAD9A310E83300C452F5445B6430CB941BB77AB183A559D99B97B13139198863615DD58B03F1FA2E47DBC8FD39A373D3BD2C8E97B8B8A3AA14A9D94A91332754223755E657D93C40ACB006938A7A00FBCA57834EB2EC0F4B24C244CEB272CFFA4C3DE20F32531EC78DCA7DD3A63D61D1074151EAFB5F2DB380BBF1766718F76C3E783B3DA2C42FE46E998DB62A35FFF7BE603AFA0B46B2D73AE0839C544F299241BB9B1E26D4348F3B3C694BC0C84956CE6BDFE215BA5171A8B4E7AA1E918A86C17A763D2E15CE73D60AC654E0A895DF7216D6AF0771B5E01383F8FF30B','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(20,8,'lexical','lexical-2','','ab','judged','a',-0.9968,X'FFCD9A310E80200C456F645A081A8EE0EE66189C3C00B37717AA521A21625CDC58A09F1F42789FD6715AF2A6ED8D92C869078D823AA1489D8AA913983AA1913AC7A3ABC0A76348FFCAE17EA71E911858AC8BEF049BF21E32489DE89E50144F1C8DA8E1BD8336705B6DAE63DD014193F03896CA67B711BF676681740A329BB062137039D56C53AEF11F963DD8D490B77C927F062A46031632977BB1D77BBC121B5D5C3FB6B99CAF6C19DC4087DA0C698ADB76','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(21,9,'lexical','lexical-2','','ab','judged','a',-0.9775,X'FFAD9A310EC3200C452F14211B9494DEA0DDBB550C9DA2CE99B97BC1843A4EDC04299D23CCF71742BC1FFFC669C99BC305DD0A397DEF047582C5E1083C91C1131BC1F35E060BA6EF49A45FCBE98AA731919C598CAFC9083CE53662E0BDB9E4836E0D4B6145194B4DAF1FBC268ADB29537573999B22A4CB21DB7B966C68A1ECF21922E1FEC25B90C6C2C2552C1F379602B765591AEC5BAA7A71CEDEEE4F9EEA3635C433A7E4CFF98B774A409319B13E99650A03067BF0CA927500D4703E6A4404E05844881F','','','{"yardstick": "reference", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(22,1,'lexical','lexical-2','','ab','judged','b',0.068,X'FFED9ABF0E02210CC6DFC55DD2C2D194B77070330C4EAE9A1B9C787769CFF0E7CE4B487474232181F4A334FC3E3A889B4C1C7AE26440EAA0133E42A7ADD009153A61103ACF7ABD513B0BE6928AFAB79C6BBCF689886971BBCEA6E3D3071EEFD042EA6999D24A548AE8F2E19D977FAA7921EDA9F915840171BB1A1E52ACA164282DB1C8B80FE61293127DAB1F07B7D2CF81FFEBB7AFDF8035F35D749AE2D65886494FCB1A673D3516CD76C31FA8F0B67C08E5F6A8EB436EF23BC650B199C43B4831BD00','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(23,2,'lexical','lexical-2','','ab','judged','b',0.4654,X'FFB55A310EC2300CFC0B3344B6435AE7170CDD500626565007A6FC9DC415494D851A44D9239FEE9258B98B1BED666F591BCECE122ACF096B9E13ABE78446CF39C8ED46192C18CB4994AFE5D4E2654C246716D7CB68943DBDE3E106BB182A78AD799A56494F2AED74FAFA4E480F8931F2A06A7A0FA1475C164629FCA292ECE91B977388E2E767EA317BABE5630BAE413EAA0CE07BF9B6A0BAFFC766ACEBD710CC6CC04EA539601C776E16D12C217F9340D0C8500F2C8064F0E8F943265412A61C1BC4109F','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(24,3,'lexical','lexical-2','','ab','judged','b',0.9947,X'FF23B2BB6980DADD3440EA6E1A422431BA9B0688EEA611A2BB6980BFBB198BD084E87A868033B921787D41313C4182679881253D78B50868E8223DB1580FA5975A68A85B6080DC550D804881CB2378510A99F6061A5F0E1EC2002D5205B6850C2D0D0D314D3354AA8D45F805E45A54CF44C7D682FBF24821676161698C1A7816C606A8DD75ECE16784080A03A2C36FD086193C5609871F11833294F90E6510C740CFDCC2D014696406D3362A04019A954686C646B5B1B500','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(25,10,'lexical','lexical-2','','ab','judged','b',0.068,X'FFED9ABF0E02210CC6DFC55D52DA8394B77070330C4EAE9A1B9C787769CFF0E7CE4B487474232181F4A334FC3E3A889BEC39F4C4C9607D079DF0113AB1422754E88441E83CEBF526ED2C984B2AEADF72AEF1DA2722A6C5ED3A9B8E4F1F74BC430BA9A7654A2B5129A2CB87775EFEA9E685B4A7E657900D96B6ABD9438A35940CA5251619F7C15C6252A26FF5E3402BFD08DC5FBF7DFD06AC99EFA2D31447830C939E161A42E71B8B66BBE10F54785B3EDECAED51D7C7D3E4768CA16233897790627A01','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(26,11,'lexical','lexical-2','','ab','judged','b',0.4654,X'FFB55A310EC2300CFC0B3344764C5AE7170CDD500626565007A6FC9DC415494D851A44D9239FEE9258B98B1BED664FAC0D67471695E78435CF89D57342A3E71CE476930C168CE524CAD7726AF1322692338BEB6534CA9EDEE970835D0C15BCD63C4DABA42795763A7D7D27A487C418795035BD87D0232D0BA3147E5149F6F48DCB3944F1F333F5983D69F998C035C8672B03F85EBE2DA8EEFFB119EBFA3504331BB053690E18C79D9B45344BC8DF2410346B6C0F2C80D6E0D1F3874CA8244C393688213E01','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
INSERT INTO "judgment" VALUES(27,12,'lexical','lexical-2','','ab','judged','b',0.9878,X'FFCD9AB10EC2201086DFC55D727045E111DC1CDC0C8393ABA6264EBCBB70558E6B4943A283730BC7FDD04BBF9FEBC44D6DEC8C38C10D4E40A76D422730741A864EBD0E9D810731809EE85347EA3218CBB1A47BE654EFA967241B18D7CBA804ABDE717B831A588FD323AA4AA5A04E97DF69FA271919B95535FD1169AF71399BDEC4C0B9F00A0F8FF9680B8ADE95C99E4324E2AFF475CEA3D4D72148A887A6BE86A5025E137442FDBF695A76BDD6B7AD5F8775F35D76C2EA01E5016DE5DF2CA3FD40827748BDCF5B4F51CDB0B32B1653FBC47D7C270087C57A0AF105','','','{"yardstick": "passages", "topic": 0.1, "kin": 0.5, "words": 0.7, "sentences": 0.2, "pairs": 0.1, "passages": 0.15, "chance": 0.1, "full": 0.6, "recall": 1.5, "recall_of_passages": 1.25, "neighbours": 0.2, "direction": 0.5, "doubt": 8.0, "copied": 0.2, "copied_lengths": 1.5, "length_free": 60, "copies": 1.5, "least_copied": 30, "length": 0.4, "least_length": 50, "yes_no": 0.15, "contradiction": 0.15, "most_contradictions": 3.0, "name": 0.04, "most_names": 3, "tie_band": 0.001, "scale": 0.3, "covered_from": 0.5, "questions": 256, "answers": 4096}','','',0,NULL,0,0,NULL,0.0,0,'2026-11-26 22:42:39.436026',NULL);
CREATE TABLE ledger (
	round_id INTEGER NOT NULL, 
	cap_usd FLOAT, 
	reserved_usd FLOAT NOT NULL, 
	spent_usd FLOAT NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, lost_usd FLOAT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_ledger PRIMARY KEY (round_id), 
	CONSTRAINT fk_ledger_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE
);
INSERT INTO "ledger" VALUES(1,NULL,0.0,0.0,0,0,0.0);
CREATE TABLE membership (
	team_id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_membership PRIMARY KEY (team_id, account_id), 
	CONSTRAINT fk_membership_team_id_team FOREIGN KEY(team_id) REFERENCES team (id) ON DELETE CASCADE, 
	CONSTRAINT fk_membership_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE TABLE metric_estimate (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	metric VARCHAR(100) NOT NULL, 
	judge VARCHAR(100) NOT NULL, 
	cheap_metric VARCHAR(100) NOT NULL, 
	seed BIGINT NOT NULL, 
	answers INTEGER NOT NULL, 
	scored INTEGER NOT NULL, 
	mean FLOAT NOT NULL, 
	error FLOAT NOT NULL, 
	lower FLOAT NOT NULL, 
	upper FLOAT NOT NULL, 
	gain FLOAT NOT NULL, 
	gain_lower FLOAT NOT NULL, 
	gain_upper FLOAT NOT NULL, 
	differences JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_metric_estimate PRIMARY KEY (id), 
	CONSTRAINT fk_metric_estimate_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT uq_metric_estimate_submission_id_metric_judge UNIQUE (submission_id, metric, judge)
);
CREATE TABLE phase (
	id INTEGER NOT NULL, 
	set_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	opens_at DATETIME, 
	closes_at DATETIME, 
	daily_quota INTEGER, 
	total_quota INTEGER, 
	file_mb INTEGER, 
	answer_chars INTEGER, 
	CONSTRAINT pk_phase PRIMARY KEY (id), 
	CONSTRAINT fk_phase_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_phase_set_id_name UNIQUE (set_id, name)
);
CREATE TABLE poll (
	id INTEGER NOT NULL, 
	set_id INTEGER NOT NULL, 
	salt VARCHAR(64) NOT NULL, 
	opened_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	CONSTRAINT pk_poll PRIMARY KEY (id), 
	CONSTRAINT fk_poll_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_poll_set_id UNIQUE (set_id)
);
CREATE TABLE poll_pair (
	id INTEGER NOT NULL, 
	poll_id INTEGER NOT NULL, 
	token VARCHAR(64) NOT NULL, 
	question_id INTEGER NOT NULL, 
	a_id INTEGER NOT NULL, 
	b_id INTEGER NOT NULL, 
	decoy_id INTEGER, 
	b_first BOOLEAN NOT NULL, 
	visitor VARCHAR(64) NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	network VARCHAR(64) NOT NULL, 
	served_at DATETIME NOT NULL, 
	preference VARCHAR(4), 
	rejection VARCHAR(16), 
	voted_at DATETIME, 
	CONSTRAINT pk_poll_pair PRIMARY KEY (id), 
	CONSTRAINT fk_poll_pair_poll_id_poll FOREIGN KEY(poll_id) REFERENCES poll (id) ON DELETE CASCADE, 
	CONSTRAINT fk_poll_pair_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE, 
	CONSTRAINT fk_poll_pair_a_id_submission FOREIGN KEY(a_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_poll_pair_b_id_submission FOREIGN KEY(b_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_poll_pair_decoy_id_question FOREIGN KEY(decoy_id) REFERENCES question (id) ON DELETE CASCADE, 
	CONSTRAINT uq_poll_pair_token UNIQUE (token)
);
CREATE TABLE qrel (
	qrels_id INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	grades JSON NOT NULL, 
	CONSTRAINT pk_qrel PRIMARY KEY (qrels_id, question_id), 
	CONSTRAINT fk_qrel_qrels_id_qrels FOREIGN KEY(qrels_id) REFERENCES qrels (id) ON DELETE CASCADE, 
	CONSTRAINT fk_qrel_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE
);
CREATE TABLE qrels (
	id INTEGER NOT NULL, 
	set_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	relevant_from FLOAT NOT NULL, 
	content_hash VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_qrels PRIMARY KEY (id), 
	CONSTRAINT fk_qrels_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_qrels_set_id_name UNIQUE (set_id, name)
);
CREATE TABLE question (
	id INTEGER NOT NULL, 
	set_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	text TEXT NOT NULL, 
	content JSON NOT NULL, 
	CONSTRAINT pk_question PRIMARY KEY (id), 
	CONSTRAINT fk_question_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_question_set_id_key UNIQUE (set_id, "key"), 
	CONSTRAINT uq_question_set_id_position UNIQUE (set_id, position)
);
INSERT INTO "question" VALUES(1,1,0,'q1','law','Question 1: why does thing 1 rise?','{"id": "q1", "domain": "law", "question": "Question 1: why does thing 1 rise?", "reference": "It rises because heat expands its gas. Thing 1 was built in 1911.", "passages": [{"id": "q1-p0", "text": "Thing 1 rises because heat expands its gas."}, {"id": "q1-p1", "text": "Passage two says that thing 1 was built in 1911."}], "split": "test"}');
INSERT INTO "question" VALUES(2,1,1,'q2','bio','Question 2: why does thing 2 rise?','{"id": "q2", "domain": "bio", "question": "Question 2: why does thing 2 rise?", "reference": "It rises because heat expands its gas. Thing 2 was built in 1912.", "passages": [{"id": "q2-p0", "text": "Thing 2 rises because heat expands its gas."}, {"id": "q2-p1", "text": "Passage two says that thing 2 was built in 1912."}], "split": "test"}');
INSERT INTO "question" VALUES(3,1,2,'q3','law','Question 3: why does thing 3 rise?','{"id": "q3", "domain": "law", "question": "Question 3: why does thing 3 rise?", "reference": "It rises because heat expands its gas. Thing 3 was built in 1913.", "passages": [{"id": "q3-p0", "text": "Thing 3 rises because heat expands its gas."}, {"id": "q3-p1", "text": "Passage two says that thing 3 was built in 1913."}], "split": "test"}');
INSERT INTO "question" VALUES(4,1,3,'q4','bio','Question 4: why does thing 4 rise?','{"id": "q4", "domain": "bio", "question": "Question 4: why does thing 4 rise?", "reference": "It rises because heat expands its gas. Thing 4 was built in 1914.", "passages": [{"id": "q4-p0", "text": "Thing 4 rises because heat expands its gas."}, {"id": "q4-p1", "text": "Passage two says that thing 4 was built in 1914."}], "split": "test"}');
INSERT INTO "question" VALUES(5,1,4,'q5','law','Question 5: why does thing 5 rise?','{"id": "q5", "domain": "law", "question": "Question 5: why does thing 5 rise?", "reference": "It rises because heat expands its gas. Thing 5 was built in 1915.", "passages": [{"id": "q5-p0", "text": "Thing 5 rises because heat expands its gas."}, {"id": "q5-p1", "text": "Passage two says that thing 5 was built in 1915."}], "split": "test"}');
INSERT INTO "question" VALUES(6,1,5,'q6','bio','Question 6: why does thing 6 rise?','{"id": "q6", "domain": "bio", "question": "Question 6: why does thing 6 rise?", "reference": "It rises because heat expands its gas. Thing 6 was built in 1916.", "passages": [{"id": "q6-p0", "text": "Thing 6 rises because heat expands its gas."}, {"id": "q6-p1", "text": "Passage two says that thing 6 was built in 1916."}], "split": "test"}');
CREATE TABLE question_digest (
	round_id INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	battles INTEGER NOT NULL, 
	undecided INTEGER NOT NULL, 
	ties INTEGER NOT NULL, 
	flips INTEGER NOT NULL, 
	disputed INTEGER NOT NULL, contested INTEGER DEFAULT '0' NOT NULL, winner_id INTEGER, winners INTEGER DEFAULT '0' NOT NULL, margin FLOAT, variance FLOAT, 
	CONSTRAINT pk_question_digest PRIMARY KEY (round_id, question_id), 
	CONSTRAINT fk_question_digest_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE, 
	CONSTRAINT fk_question_digest_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE
);
INSERT INTO "question_digest" VALUES(1,1,3,0,0,0,0,0,NULL,3,0.0,0.0);
INSERT INTO "question_digest" VALUES(1,2,6,0,0,0,0,0,2,1,0.333334,7.40741481482222463572e-02);
INSERT INTO "question_digest" VALUES(1,3,3,0,0,0,0,0,NULL,3,0.0,0.0);
INSERT INTO "question_digest" VALUES(1,4,3,0,0,0,0,0,NULL,3,0.0,0.0);
INSERT INTO "question_digest" VALUES(1,5,6,0,0,0,0,0,2,1,0.333334,7.40741481482222463572e-02);
INSERT INTO "question_digest" VALUES(1,6,6,0,0,0,0,0,2,1,0.333334,7.40741481482222463572e-02);
CREATE TABLE question_set (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	title TEXT NOT NULL, 
	version TEXT NOT NULL, 
	licence TEXT NOT NULL, 
	source TEXT NOT NULL, 
	reference_name VARCHAR(100) NOT NULL, 
	domains JSON NOT NULL, 
	questions INTEGER NOT NULL, 
	content_hash VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, hidden_references BOOLEAN DEFAULT 0 NOT NULL, reference_by TEXT DEFAULT '' NOT NULL, note TEXT DEFAULT '' NOT NULL, public_texts BOOLEAN DEFAULT 1 NOT NULL, gate JSON, 
	CONSTRAINT pk_question_set PRIMARY KEY (id), 
	CONSTRAINT uq_question_set_name UNIQUE (name)
);
INSERT INTO "question_set" VALUES(1,'tiny','set','1','','','reference','{"law": "Law", "bio": "Bio"}',6,'8904602bb83639df3e416f0cc27ff161cfbc6469d3f63c141a1694e1ad6e5827','2026-11-26 22:42:21.390645',0,'','',1,NULL);
CREATE TABLE ranking (
	submission_id INTEGER NOT NULL, 
	question_id INTEGER NOT NULL, 
	passages JSON NOT NULL, 
	scores JSON NOT NULL, 
	texts JSON, 
	CONSTRAINT pk_ranking PRIMARY KEY (submission_id, question_id), 
	CONSTRAINT fk_ranking_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_ranking_question_id_question FOREIGN KEY(question_id) REFERENCES question (id) ON DELETE CASCADE
);
CREATE TABLE reference_batch (
	id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	is_accepted BOOLEAN, 
	created_at DATETIME NOT NULL, 
	decided_at DATETIME, 
	CONSTRAINT pk_reference_batch PRIMARY KEY (id), 
	CONSTRAINT fk_reference_batch_task_id_annotation_task FOREIGN KEY(task_id) REFERENCES annotation_task (id) ON DELETE CASCADE, 
	CONSTRAINT uq_reference_batch_task_id_number UNIQUE (task_id, number)
);
CREATE TABLE reference_check (
	id INTEGER NOT NULL, 
	batch_id INTEGER NOT NULL, 
	label_id INTEGER NOT NULL, 
	is_drawn BOOLEAN NOT NULL, 
	is_reworked BOOLEAN NOT NULL, 
	is_valid BOOLEAN, 
	failures JSON, 
	remark TEXT NOT NULL, 
	auditor TEXT NOT NULL, 
	audited_at DATETIME, 
	CONSTRAINT pk_reference_check PRIMARY KEY (id), 
	CONSTRAINT fk_reference_check_batch_id_reference_batch FOREIGN KEY(batch_id) REFERENCES reference_batch (id) ON DELETE CASCADE, 
	CONSTRAINT fk_reference_check_label_id_annotation_label FOREIGN KEY(label_id) REFERENCES annotation_label (id) ON DELETE CASCADE, 
	CONSTRAINT uq_reference_check_batch_id_label_id UNIQUE (batch_id, label_id)
);
CREATE TABLE reference_draft (
	item_id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	model TEXT NOT NULL, 
	prompt_hash VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_reference_draft PRIMARY KEY (item_id), 
	CONSTRAINT fk_reference_draft_item_id_annotation_item FOREIGN KEY(item_id) REFERENCES annotation_item (id) ON DELETE CASCADE
);
CREATE TABLE refused_token (
	id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_refused_token PRIMARY KEY (id)
);
CREATE TABLE reply (
	"key" VARCHAR(64) NOT NULL, 
	endpoint TEXT NOT NULL, 
	model TEXT NOT NULL, 
	text TEXT NOT NULL, 
	finish_reason TEXT NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cost_usd FLOAT, 
	latency FLOAT NOT NULL, 
	logprobs TEXT, 
	created_at DATETIME NOT NULL, thinking TEXT, response_id TEXT DEFAULT '' NOT NULL, response_model TEXT DEFAULT '' NOT NULL, fingerprint TEXT DEFAULT '' NOT NULL, left_out TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_reply PRIMARY KEY ("key")
);
CREATE TABLE retest (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	battles INTEGER NOT NULL, 
	repeat INTEGER NOT NULL, 
	swapped BOOLEAN NOT NULL, 
	wordings JSON NOT NULL, 
	budget_usd FLOAT, 
	seat_id INTEGER, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_retest PRIMARY KEY (id), 
	CONSTRAINT fk_retest_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE, 
	CONSTRAINT uq_retest_round_id_number UNIQUE (round_id, number)
);
CREATE TABLE retest_ledger (
	retest_id INTEGER NOT NULL, 
	cap_usd FLOAT, 
	reserved_usd FLOAT NOT NULL, 
	spent_usd FLOAT NOT NULL, 
	lost_usd FLOAT NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	CONSTRAINT pk_retest_ledger PRIMARY KEY (retest_id), 
	CONSTRAINT fk_retest_ledger_retest_id_retest FOREIGN KEY(retest_id) REFERENCES retest (id) ON DELETE CASCADE
);
CREATE TABLE round (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	set_id INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	judge VARCHAR(100) NOT NULL, 
	"plan" JSON NOT NULL, 
	seed INTEGER NOT NULL, 
	budget_usd FLOAT, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	CONSTRAINT pk_round PRIMARY KEY (id), 
	CONSTRAINT fk_round_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_round_name UNIQUE (name)
);
INSERT INTO "round" VALUES(1,'r',1,'published','lexical','{"judge": {"source": "lexical", "hash": "2de618ffbce3f5f723141969a0d7b0087059ea5052eaf3833f4cdfbef40ed0f0", "kind": "lexical", "model": "", "endpoint": "https://api.openai.com/v1", "yardstick": "none", "order": "paper", "reply": "rating", "temperature": 0.0, "top_p": 1.0, "max_tokens": 256, "seed": null, "votes": 1, "swap_margin": null, "swap_audit": 0.0, "reasks": 1, "failures_tie": false, "cleaning": "standard", "protection": "full", "weights": [], "rule": "majority", "quorum": null, "lexical": {}, "prompt": "", "members": []}, "pairs": "reference,complete:3", "sample": null, "systems": {"full": 1, "half": 1, "off": 1}, "set_hash": "8904602bb83639df3e416f0cc27ff161cfbc6469d3f63c141a1694e1ad6e5827", "left_out": {}, "undecidable": {}, "canaries": 2}',0,NULL,'2026-11-26 22:42:36.695309','2026-11-26 22:42:36.753994','2026-11-26 22:42:39.457249');
CREATE TABLE score (
	id INTEGER NOT NULL, 
	answer_id INTEGER NOT NULL, 
	metric VARCHAR(100) NOT NULL, 
	judge VARCHAR(100) NOT NULL, 
	outcome VARCHAR(16) NOT NULL, 
	score FLOAT, 
	details JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_score PRIMARY KEY (id), 
	CONSTRAINT fk_score_answer_id_answer FOREIGN KEY(answer_id) REFERENCES answer (id) ON DELETE CASCADE, 
	CONSTRAINT uq_score_answer_id_metric_judge UNIQUE (answer_id, metric, judge)
);
INSERT INTO "score" VALUES(1,7,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q1-p0", "text": "Thing 1 rises because heat expands its gas.", "passages": ["q1-p0"]}, {"id": "c1_q1-p1", "text": "Passage two says that thing 1 was built in 1911.", "passages": ["q1-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:34.739495');
INSERT INTO "score" VALUES(2,13,'comprehensiveness-nli','','judged',0.5,'{"engine": "lexical-4", "covered": [{"id": "c0_q1-p0", "text": "Thing 1 rises because heat expands its gas.", "passages": ["q1-p0"]}], "missing": [{"id": "c1_q1-p1", "text": "Passage two says that thing 1 was built in 1911.", "passages": ["q1-p1"]}], "basis": [{"id": "c1_q1-p1", "text": "Passage two says that thing 1 was built in 1911.", "passages": ["q1-p1"]}], "contradicted": [], "counts": {"covered": 1, "missing": 1, "basis": 1}}','2026-11-26 22:42:34.739504');
INSERT INTO "score" VALUES(3,19,'comprehensiveness-nli','','judged',0.0,'{"engine": "lexical-4", "covered": [], "missing": [{"id": "c0_q1-p0", "text": "Thing 1 rises because heat expands its gas.", "passages": ["q1-p0"]}, {"id": "c1_q1-p1", "text": "Passage two says that thing 1 was built in 1911.", "passages": ["q1-p1"]}], "basis": [{"id": "c0_q1-p0", "text": "Thing 1 rises because heat expands its gas.", "passages": ["q1-p0"]}, {"id": "c1_q1-p1", "text": "Passage two says that thing 1 was built in 1911.", "passages": ["q1-p1"]}], "contradicted": [], "counts": {"covered": 0, "missing": 2, "basis": 2}}','2026-11-26 22:42:34.739505');
INSERT INTO "score" VALUES(4,8,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q2-p0", "text": "Thing 2 rises because heat expands its gas.", "passages": ["q2-p0"]}, {"id": "c1_q2-p1", "text": "Passage two says that thing 2 was built in 1912.", "passages": ["q2-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:34.739506');
INSERT INTO "score" VALUES(5,14,'comprehensiveness-nli','','judged',0.5,'{"engine": "lexical-4", "covered": [{"id": "c0_q2-p0", "text": "Thing 2 rises because heat expands its gas.", "passages": ["q2-p0"]}], "missing": [{"id": "c1_q2-p1", "text": "Passage two says that thing 2 was built in 1912.", "passages": ["q2-p1"]}], "basis": [{"id": "c1_q2-p1", "text": "Passage two says that thing 2 was built in 1912.", "passages": ["q2-p1"]}], "contradicted": [], "counts": {"covered": 1, "missing": 1, "basis": 1}}','2026-11-26 22:42:34.739508');
INSERT INTO "score" VALUES(6,20,'comprehensiveness-nli','','judged',0.0,'{"engine": "lexical-4", "covered": [], "missing": [{"id": "c0_q2-p0", "text": "Thing 2 rises because heat expands its gas.", "passages": ["q2-p0"]}, {"id": "c1_q2-p1", "text": "Passage two says that thing 2 was built in 1912.", "passages": ["q2-p1"]}], "basis": [{"id": "c0_q2-p0", "text": "Thing 2 rises because heat expands its gas.", "passages": ["q2-p0"]}, {"id": "c1_q2-p1", "text": "Passage two says that thing 2 was built in 1912.", "passages": ["q2-p1"]}], "contradicted": [], "counts": {"covered": 0, "missing": 2, "basis": 2}}','2026-11-26 22:42:34.739509');
INSERT INTO "score" VALUES(7,9,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q3-p0", "text": "Thing 3 rises because heat expands its gas.", "passages": ["q3-p0"]}, {"id": "c1_q3-p1", "text": "Passage two says that thing 3 was built in 1913.", "passages": ["q3-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:34.739510');
INSERT INTO "score" VALUES(8,15,'comprehensiveness-nli','','judged',0.5,'{"engine": "lexical-4", "covered": [{"id": "c0_q3-p0", "text": "Thing 3 rises because heat expands its gas.", "passages": ["q3-p0"]}], "missing": [{"id": "c1_q3-p1", "text": "Passage two says that thing 3 was built in 1913.", "passages": ["q3-p1"]}], "basis": [{"id": "c1_q3-p1", "text": "Passage two says that thing 3 was built in 1913.", "passages": ["q3-p1"]}], "contradicted": [], "counts": {"covered": 1, "missing": 1, "basis": 1}}','2026-11-26 22:42:34.739512');
INSERT INTO "score" VALUES(9,21,'comprehensiveness-nli','','judged',0.0,'{"engine": "lexical-4", "covered": [], "missing": [{"id": "c0_q3-p0", "text": "Thing 3 rises because heat expands its gas.", "passages": ["q3-p0"]}, {"id": "c1_q3-p1", "text": "Passage two says that thing 3 was built in 1913.", "passages": ["q3-p1"]}], "basis": [{"id": "c0_q3-p0", "text": "Thing 3 rises because heat expands its gas.", "passages": ["q3-p0"]}, {"id": "c1_q3-p1", "text": "Passage two says that thing 3 was built in 1913.", "passages": ["q3-p1"]}], "contradicted": [], "counts": {"covered": 0, "missing": 2, "basis": 2}}','2026-11-26 22:42:34.739513');
INSERT INTO "score" VALUES(10,10,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q4-p0", "text": "Thing 4 rises because heat expands its gas.", "passages": ["q4-p0"]}, {"id": "c1_q4-p1", "text": "Passage two says that thing 4 was built in 1914.", "passages": ["q4-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:34.739513');
INSERT INTO "score" VALUES(11,16,'comprehensiveness-nli','','judged',0.5,'{"engine": "lexical-4", "covered": [{"id": "c0_q4-p0", "text": "Thing 4 rises because heat expands its gas.", "passages": ["q4-p0"]}], "missing": [{"id": "c1_q4-p1", "text": "Passage two says that thing 4 was built in 1914.", "passages": ["q4-p1"]}], "basis": [{"id": "c1_q4-p1", "text": "Passage two says that thing 4 was built in 1914.", "passages": ["q4-p1"]}], "contradicted": [], "counts": {"covered": 1, "missing": 1, "basis": 1}}','2026-11-26 22:42:34.739514');
INSERT INTO "score" VALUES(12,22,'comprehensiveness-nli','','judged',0.0,'{"engine": "lexical-4", "covered": [], "missing": [{"id": "c0_q4-p0", "text": "Thing 4 rises because heat expands its gas.", "passages": ["q4-p0"]}, {"id": "c1_q4-p1", "text": "Passage two says that thing 4 was built in 1914.", "passages": ["q4-p1"]}], "basis": [{"id": "c0_q4-p0", "text": "Thing 4 rises because heat expands its gas.", "passages": ["q4-p0"]}, {"id": "c1_q4-p1", "text": "Passage two says that thing 4 was built in 1914.", "passages": ["q4-p1"]}], "contradicted": [], "counts": {"covered": 0, "missing": 2, "basis": 2}}','2026-11-26 22:42:34.739515');
INSERT INTO "score" VALUES(13,11,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q5-p0", "text": "Thing 5 rises because heat expands its gas.", "passages": ["q5-p0"]}, {"id": "c1_q5-p1", "text": "Passage two says that thing 5 was built in 1915.", "passages": ["q5-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:34.739515');
INSERT INTO "score" VALUES(14,17,'comprehensiveness-nli','','judged',0.5,'{"engine": "lexical-4", "covered": [{"id": "c0_q5-p0", "text": "Thing 5 rises because heat expands its gas.", "passages": ["q5-p0"]}], "missing": [{"id": "c1_q5-p1", "text": "Passage two says that thing 5 was built in 1915.", "passages": ["q5-p1"]}], "basis": [{"id": "c1_q5-p1", "text": "Passage two says that thing 5 was built in 1915.", "passages": ["q5-p1"]}], "contradicted": [], "counts": {"covered": 1, "missing": 1, "basis": 1}}','2026-11-26 22:42:34.739516');
INSERT INTO "score" VALUES(15,23,'comprehensiveness-nli','','judged',0.0,'{"engine": "lexical-4", "covered": [], "missing": [{"id": "c0_q5-p0", "text": "Thing 5 rises because heat expands its gas.", "passages": ["q5-p0"]}, {"id": "c1_q5-p1", "text": "Passage two says that thing 5 was built in 1915.", "passages": ["q5-p1"]}], "basis": [{"id": "c0_q5-p0", "text": "Thing 5 rises because heat expands its gas.", "passages": ["q5-p0"]}, {"id": "c1_q5-p1", "text": "Passage two says that thing 5 was built in 1915.", "passages": ["q5-p1"]}], "contradicted": [], "counts": {"covered": 0, "missing": 2, "basis": 2}}','2026-11-26 22:42:34.739517');
INSERT INTO "score" VALUES(16,12,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q6-p0", "text": "Thing 6 rises because heat expands its gas.", "passages": ["q6-p0"]}, {"id": "c1_q6-p1", "text": "Passage two says that thing 6 was built in 1916.", "passages": ["q6-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:34.739518');
INSERT INTO "score" VALUES(17,18,'comprehensiveness-nli','','judged',0.5,'{"engine": "lexical-4", "covered": [{"id": "c0_q6-p0", "text": "Thing 6 rises because heat expands its gas.", "passages": ["q6-p0"]}], "missing": [{"id": "c1_q6-p1", "text": "Passage two says that thing 6 was built in 1916.", "passages": ["q6-p1"]}], "basis": [{"id": "c1_q6-p1", "text": "Passage two says that thing 6 was built in 1916.", "passages": ["q6-p1"]}], "contradicted": [], "counts": {"covered": 1, "missing": 1, "basis": 1}}','2026-11-26 22:42:34.739519');
INSERT INTO "score" VALUES(18,24,'comprehensiveness-nli','','judged',0.0,'{"engine": "lexical-4", "covered": [], "missing": [{"id": "c0_q6-p0", "text": "Thing 6 rises because heat expands its gas.", "passages": ["q6-p0"]}, {"id": "c1_q6-p1", "text": "Passage two says that thing 6 was built in 1916.", "passages": ["q6-p1"]}], "basis": [{"id": "c0_q6-p0", "text": "Thing 6 rises because heat expands its gas.", "passages": ["q6-p0"]}, {"id": "c1_q6-p1", "text": "Passage two says that thing 6 was built in 1916.", "passages": ["q6-p1"]}], "contradicted": [], "counts": {"covered": 0, "missing": 2, "basis": 2}}','2026-11-26 22:42:34.739519');
INSERT INTO "score" VALUES(19,1,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q1-p0", "text": "Thing 1 rises because heat expands its gas.", "passages": ["q1-p0"]}, {"id": "c1_q1-p1", "text": "Passage two says that thing 1 was built in 1911.", "passages": ["q1-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:46.669860');
INSERT INTO "score" VALUES(20,2,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q2-p0", "text": "Thing 2 rises because heat expands its gas.", "passages": ["q2-p0"]}, {"id": "c1_q2-p1", "text": "Passage two says that thing 2 was built in 1912.", "passages": ["q2-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:46.669866');
INSERT INTO "score" VALUES(21,3,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q3-p0", "text": "Thing 3 rises because heat expands its gas.", "passages": ["q3-p0"]}, {"id": "c1_q3-p1", "text": "Passage two says that thing 3 was built in 1913.", "passages": ["q3-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:46.669867');
INSERT INTO "score" VALUES(22,4,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q4-p0", "text": "Thing 4 rises because heat expands its gas.", "passages": ["q4-p0"]}, {"id": "c1_q4-p1", "text": "Passage two says that thing 4 was built in 1914.", "passages": ["q4-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:46.669868');
INSERT INTO "score" VALUES(23,5,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q5-p0", "text": "Thing 5 rises because heat expands its gas.", "passages": ["q5-p0"]}, {"id": "c1_q5-p1", "text": "Passage two says that thing 5 was built in 1915.", "passages": ["q5-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:46.669870');
INSERT INTO "score" VALUES(24,6,'comprehensiveness-nli','','judged',1.0,'{"engine": "lexical-4", "covered": [{"id": "c0_q6-p0", "text": "Thing 6 rises because heat expands its gas.", "passages": ["q6-p0"]}, {"id": "c1_q6-p1", "text": "Passage two says that thing 6 was built in 1916.", "passages": ["q6-p1"]}], "missing": [], "basis": [], "contradicted": [], "counts": {"covered": 2, "missing": 0, "basis": 0}}','2026-11-26 22:42:46.669871');
INSERT INTO "score" VALUES(25,7,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q1-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 1 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q1-p0 (0.98)."}, {"id": "a2", "text": "It was built in 1911.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q1-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 1 was built in 1911."}], "against": [], "reason": "Likelier true than false (0.97): supported by q1-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q1-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q1-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021548');
INSERT INTO "score" VALUES(26,13,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 1, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9852931854199682, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "Heat expands its gas, so it rises.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q1-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 1 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q1-p0 (0.98)."}], "contexts": [{"id": "c1", "passage": "q1-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q1-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021556');
INSERT INTO "score" VALUES(27,19,'factuality-fr3','','judged',0.0,'{"engine": "lexical-4", "supported": 0, "contradicted": 0, "undecided": 1, "precision": 0.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.1505149978319906, "entropy_repaired": 0.1505149978319906, "mean_context_posterior": 0.99, "factors": "table1", "inference": {"method": "exact", "treewidth": 0, "error": 0.0}, "claims": [{"id": "a1", "text": "Nobody knows; perhaps the moon pulls it.", "posterior": 0.5, "label": "undecided", "for": [], "against": [], "reason": "No passage speaks for or against it."}], "contexts": [{"id": "c1", "passage": "q1-p0", "title": "", "posterior": 0.99}, {"id": "c2", "passage": "q1-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": []}, "unanswered": {}}','2026-11-26 22:42:47.021558');
INSERT INTO "score" VALUES(28,1,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q1-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 1 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q1-p0 (0.98)."}, {"id": "a2", "text": "Thing 1 was built in 1911.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q1-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 1 was built in 1911."}], "against": [], "reason": "Likelier true than false (0.97): supported by q1-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q1-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q1-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021559');
INSERT INTO "score" VALUES(29,8,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q2-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 2 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q2-p0 (0.98)."}, {"id": "a2", "text": "It was built in 1912.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q2-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 2 was built in 1912."}], "against": [], "reason": "Likelier true than false (0.97): supported by q2-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q2-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q2-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021561');
INSERT INTO "score" VALUES(30,14,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 1, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9852931854199682, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "Heat expands its gas, so it rises.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q2-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 2 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q2-p0 (0.98)."}], "contexts": [{"id": "c1", "passage": "q2-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q2-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021562');
INSERT INTO "score" VALUES(31,20,'factuality-fr3','','judged',0.0,'{"engine": "lexical-4", "supported": 0, "contradicted": 0, "undecided": 1, "precision": 0.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.1505149978319906, "entropy_repaired": 0.1505149978319906, "mean_context_posterior": 0.99, "factors": "table1", "inference": {"method": "exact", "treewidth": 0, "error": 0.0}, "claims": [{"id": "a1", "text": "Nobody knows; perhaps the moon pulls it.", "posterior": 0.5, "label": "undecided", "for": [], "against": [], "reason": "No passage speaks for or against it."}], "contexts": [{"id": "c1", "passage": "q2-p0", "title": "", "posterior": 0.99}, {"id": "c2", "passage": "q2-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": []}, "unanswered": {}}','2026-11-26 22:42:47.021563');
INSERT INTO "score" VALUES(32,2,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q2-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 2 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q2-p0 (0.98)."}, {"id": "a2", "text": "Thing 2 was built in 1912.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q2-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 2 was built in 1912."}], "against": [], "reason": "Likelier true than false (0.97): supported by q2-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q2-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q2-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021564');
INSERT INTO "score" VALUES(33,9,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q3-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 3 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q3-p0 (0.98)."}, {"id": "a2", "text": "It was built in 1913.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q3-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 3 was built in 1913."}], "against": [], "reason": "Likelier true than false (0.97): supported by q3-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q3-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q3-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021565');
INSERT INTO "score" VALUES(34,15,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 1, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9852931854199682, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "Heat expands its gas, so it rises.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q3-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 3 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q3-p0 (0.98)."}], "contexts": [{"id": "c1", "passage": "q3-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q3-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021566');
INSERT INTO "score" VALUES(35,21,'factuality-fr3','','judged',0.0,'{"engine": "lexical-4", "supported": 0, "contradicted": 1, "undecided": 0, "precision": 0.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.15515224984384193, "entropy_repaired": 0.15655849629941185, "mean_context_posterior": 0.9895978491745642, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It was built in 1950.", "posterior": 0.45978491745642003, "label": "contradicted", "for": [], "against": [{"context": "c2", "passage": "q3-p1", "probability": 0.5406543241248369, "posterior": 0.9891956983491283, "why": "Passage two says that thing 3 was built in 1913."}], "reason": "Likelier false than true (0.46): contradicted by q3-p1 (0.54)."}], "contexts": [{"id": "c1", "passage": "q3-p0", "title": "", "posterior": 0.99}, {"id": "c2", "passage": "q3-p1", "title": "", "posterior": 0.9891956983491283}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c2", "to": "a1", "relation": "contradiction", "probability": 0.5406543241248369}]}, "unanswered": {}}','2026-11-26 22:42:47.021567');
INSERT INTO "score" VALUES(36,3,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q3-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 3 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q3-p0 (0.98)."}, {"id": "a2", "text": "Thing 3 was built in 1913.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q3-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 3 was built in 1913."}], "against": [], "reason": "Likelier true than false (0.97): supported by q3-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q3-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q3-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021568');
INSERT INTO "score" VALUES(37,10,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q4-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 4 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q4-p0 (0.98)."}, {"id": "a2", "text": "It was built in 1914.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q4-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 4 was built in 1914."}], "against": [], "reason": "Likelier true than false (0.97): supported by q4-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q4-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q4-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021569');
INSERT INTO "score" VALUES(38,16,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 1, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9852931854199682, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "Heat expands its gas, so it rises.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q4-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 4 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q4-p0 (0.98)."}], "contexts": [{"id": "c1", "passage": "q4-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q4-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021570');
INSERT INTO "score" VALUES(39,22,'factuality-fr3','','judged',0.0,'{"engine": "lexical-4", "supported": 0, "contradicted": 0, "undecided": 1, "precision": 0.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.1505149978319906, "entropy_repaired": 0.1505149978319906, "mean_context_posterior": 0.99, "factors": "table1", "inference": {"method": "exact", "treewidth": 0, "error": 0.0}, "claims": [{"id": "a1", "text": "Nobody knows; perhaps the moon pulls it.", "posterior": 0.5, "label": "undecided", "for": [], "against": [], "reason": "No passage speaks for or against it."}], "contexts": [{"id": "c1", "passage": "q4-p0", "title": "", "posterior": 0.99}, {"id": "c2", "passage": "q4-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": []}, "unanswered": {}}','2026-11-26 22:42:47.021571');
INSERT INTO "score" VALUES(40,4,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q4-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 4 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q4-p0 (0.98)."}, {"id": "a2", "text": "Thing 4 was built in 1914.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q4-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 4 was built in 1914."}], "against": [], "reason": "Likelier true than false (0.97): supported by q4-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q4-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q4-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021572');
INSERT INTO "score" VALUES(41,11,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q5-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 5 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q5-p0 (0.98)."}, {"id": "a2", "text": "It was built in 1915.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q5-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 5 was built in 1915."}], "against": [], "reason": "Likelier true than false (0.97): supported by q5-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q5-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q5-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021573');
INSERT INTO "score" VALUES(42,17,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 1, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9852931854199682, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "Heat expands its gas, so it rises.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q5-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 5 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q5-p0 (0.98)."}], "contexts": [{"id": "c1", "passage": "q5-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q5-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021574');
INSERT INTO "score" VALUES(43,23,'factuality-fr3','','judged',0.0,'{"engine": "lexical-4", "supported": 0, "contradicted": 0, "undecided": 1, "precision": 0.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.1505149978319906, "entropy_repaired": 0.1505149978319906, "mean_context_posterior": 0.99, "factors": "table1", "inference": {"method": "exact", "treewidth": 0, "error": 0.0}, "claims": [{"id": "a1", "text": "Nobody knows; perhaps the moon pulls it.", "posterior": 0.5, "label": "undecided", "for": [], "against": [], "reason": "No passage speaks for or against it."}], "contexts": [{"id": "c1", "passage": "q5-p0", "title": "", "posterior": 0.99}, {"id": "c2", "passage": "q5-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": []}, "unanswered": {}}','2026-11-26 22:42:47.021575');
INSERT INTO "score" VALUES(44,5,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q5-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 5 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q5-p0 (0.98)."}, {"id": "a2", "text": "Thing 5 was built in 1915.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q5-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 5 was built in 1915."}], "against": [], "reason": "Likelier true than false (0.97): supported by q5-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q5-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q5-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021576');
INSERT INTO "score" VALUES(45,12,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q6-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 6 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q6-p0 (0.98)."}, {"id": "a2", "text": "It was built in 1916.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q6-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 6 was built in 1916."}], "against": [], "reason": "Likelier true than false (0.97): supported by q6-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q6-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q6-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021578');
INSERT INTO "score" VALUES(46,18,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 1, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9852931854199682, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "Heat expands its gas, so it rises.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q6-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 6 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q6-p0 (0.98)."}], "contexts": [{"id": "c1", "passage": "q6-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q6-p1", "title": "", "posterior": 0.99}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021579');
INSERT INTO "score" VALUES(47,24,'factuality-fr3','','judged',0.0,'{"engine": "lexical-4", "supported": 0, "contradicted": 1, "undecided": 0, "precision": 0.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.15515224984384193, "entropy_repaired": 0.15655849629941185, "mean_context_posterior": 0.9895978491745642, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It was built in 1950.", "posterior": 0.45978491745642003, "label": "contradicted", "for": [], "against": [{"context": "c2", "passage": "q6-p1", "probability": 0.5406543241248369, "posterior": 0.9891956983491283, "why": "Passage two says that thing 6 was built in 1916."}], "reason": "Likelier false than true (0.46): contradicted by q6-p1 (0.54)."}], "contexts": [{"id": "c1", "passage": "q6-p0", "title": "", "posterior": 0.99}, {"id": "c2", "passage": "q6-p1", "title": "", "posterior": 0.9891956983491283}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c2", "to": "a1", "relation": "contradiction", "probability": 0.5406543241248369}]}, "unanswered": {}}','2026-11-26 22:42:47.021580');
INSERT INTO "score" VALUES(48,6,'factuality-fr3','','judged',1.0,'{"engine": "lexical-4", "supported": 2, "contradicted": 0, "undecided": 0, "precision": 1.0, "k": null, "recall_at_k": null, "f1_at_k": null, "entropy": 0.01254437488452152, "entropy_repaired": 0.01254437488452152, "mean_context_posterior": 0.9805863708399366, "factors": "table1", "inference": {"method": "exact", "treewidth": 1, "error": 0.0}, "claims": [{"id": "a1", "text": "It rises because heat expands its gas.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c1", "passage": "q6-p0", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Thing 6 rises because heat expands its gas."}], "against": [], "reason": "Likelier true than false (0.97): supported by q6-p0 (0.98)."}, {"id": "a2", "text": "Thing 6 was built in 1916.", "posterior": 0.9706814580031696, "label": "supported", "for": [{"context": "c2", "passage": "q6-p1", "probability": 0.98, "posterior": 0.9805863708399366, "why": "Passage two says that thing 6 was built in 1916."}], "against": [], "reason": "Likelier true than false (0.97): supported by q6-p1 (0.98)."}], "contexts": [{"id": "c1", "passage": "q6-p0", "title": "", "posterior": 0.9805863708399366}, {"id": "c2", "passage": "q6-p1", "title": "", "posterior": 0.9805863708399366}], "conflicts": [], "graph": {"nodes": [{"id": "a1", "type": "atom", "probability": 0.5}, {"id": "a2", "type": "atom", "probability": 0.5}, {"id": "c1", "type": "context", "probability": 0.99}, {"id": "c2", "type": "context", "probability": 0.99}], "edges": [{"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.98}, {"from": "c2", "to": "a2", "relation": "entailment", "probability": 0.98}]}, "unanswered": {}}','2026-11-26 22:42:47.021581');
INSERT INTO "score" VALUES(49,7,'citation-support','','judged',1.0,'{"engine": "lexical-4", "precision": 1.0, "recall": 1.0, "cites": "passages", "sentences": [{"text": "It rises because heat expands its gas.", "weight": 1.0, "citations": [{"number": 1, "passage": "q1-p0", "support": "full"}]}, {"text": "It was built in 1911.", "weight": 1.0, "citations": [{"number": 2, "passage": "q1-p1", "support": "full"}]}], "uncited": [], "unsupported": [], "counts": {"sentences": 2, "cited": 2, "uncited": 0, "unsupported": 0, "citations": 2, "full": 2, "partial": 0, "none": 0, "undecided": 0, "unknown": 0}}','2026-11-26 22:42:47.087293');
INSERT INTO "score" VALUES(50,8,'citation-support','','judged',1.0,'{"engine": "lexical-4", "precision": 1.0, "recall": 1.0, "cites": "passages", "sentences": [{"text": "It rises because heat expands its gas.", "weight": 1.0, "citations": [{"number": 1, "passage": "q2-p0", "support": "full"}]}, {"text": "It was built in 1912.", "weight": 1.0, "citations": [{"number": 2, "passage": "q2-p1", "support": "full"}]}], "uncited": [], "unsupported": [], "counts": {"sentences": 2, "cited": 2, "uncited": 0, "unsupported": 0, "citations": 2, "full": 2, "partial": 0, "none": 0, "undecided": 0, "unknown": 0}}','2026-11-26 22:42:47.087300');
INSERT INTO "score" VALUES(51,9,'citation-support','','judged',1.0,'{"engine": "lexical-4", "precision": 1.0, "recall": 1.0, "cites": "passages", "sentences": [{"text": "It rises because heat expands its gas.", "weight": 1.0, "citations": [{"number": 1, "passage": "q3-p0", "support": "full"}]}, {"text": "It was built in 1913.", "weight": 1.0, "citations": [{"number": 2, "passage": "q3-p1", "support": "full"}]}], "uncited": [], "unsupported": [], "counts": {"sentences": 2, "cited": 2, "uncited": 0, "unsupported": 0, "citations": 2, "full": 2, "partial": 0, "none": 0, "undecided": 0, "unknown": 0}}','2026-11-26 22:42:47.087301');
INSERT INTO "score" VALUES(52,10,'citation-support','','judged',1.0,'{"engine": "lexical-4", "precision": 1.0, "recall": 1.0, "cites": "passages", "sentences": [{"text": "It rises because heat expands its gas.", "weight": 1.0, "citations": [{"number": 1, "passage": "q4-p0", "support": "full"}]}, {"text": "It was built in 1914.", "weight": 1.0, "citations": [{"number": 2, "passage": "q4-p1", "support": "full"}]}], "uncited": [], "unsupported": [], "counts": {"sentences": 2, "cited": 2, "uncited": 0, "unsupported": 0, "citations": 2, "full": 2, "partial": 0, "none": 0, "undecided": 0, "unknown": 0}}','2026-11-26 22:42:47.087302');
INSERT INTO "score" VALUES(53,11,'citation-support','','judged',1.0,'{"engine": "lexical-4", "precision": 1.0, "recall": 1.0, "cites": "passages", "sentences": [{"text": "It rises because heat expands its gas.", "weight": 1.0, "citations": [{"number": 1, "passage": "q5-p0", "support": "full"}]}, {"text": "It was built in 1915.", "weight": 1.0, "citations": [{"number": 2, "passage": "q5-p1", "support": "full"}]}], "uncited": [], "unsupported": [], "counts": {"sentences": 2, "cited": 2, "uncited": 0, "unsupported": 0, "citations": 2, "full": 2, "partial": 0, "none": 0, "undecided": 0, "unknown": 0}}','2026-11-26 22:42:47.087303');
INSERT INTO "score" VALUES(54,12,'citation-support','','judged',1.0,'{"engine": "lexical-4", "precision": 1.0, "recall": 1.0, "cites": "passages", "sentences": [{"text": "It rises because heat expands its gas.", "weight": 1.0, "citations": [{"number": 1, "passage": "q6-p0", "support": "full"}]}, {"text": "It was built in 1916.", "weight": 1.0, "citations": [{"number": 2, "passage": "q6-p1", "support": "full"}]}], "uncited": [], "unsupported": [], "counts": {"sentences": 2, "cited": 2, "uncited": 0, "unsupported": 0, "citations": 2, "full": 2, "partial": 0, "none": 0, "undecided": 0, "unknown": 0}}','2026-11-26 22:42:47.087303');
CREATE TABLE seat (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	job_id INTEGER NOT NULL, 
	slot INTEGER NOT NULL, 
	worker VARCHAR(100) NOT NULL, 
	place TEXT NOT NULL, 
	pid INTEGER NOT NULL, 
	born VARCHAR(40) NOT NULL, 
	taken_at FLOAT NOT NULL, 
	beat_at FLOAT NOT NULL, 
	lease_until FLOAT NOT NULL, 
	done INTEGER NOT NULL, 
	drawn_usd FLOAT NOT NULL, 
	paid_usd FLOAT NOT NULL, 
	paid_input INTEGER NOT NULL, 
	paid_output INTEGER NOT NULL, 
	recorded_usd FLOAT NOT NULL, 
	recorded_input INTEGER NOT NULL, 
	recorded_output INTEGER NOT NULL, progress JSON, 
	CONSTRAINT fk_seat_job_id_job FOREIGN KEY(job_id) REFERENCES job (id) ON DELETE CASCADE, 
	CONSTRAINT uq_seat_job_id_slot UNIQUE (job_id, slot)
);
CREATE TABLE sent_file (
	id INTEGER NOT NULL, 
	submission_id INTEGER, 
	set_id INTEGER NOT NULL, 
	account VARCHAR(100), 
	kind VARCHAR(16) NOT NULL, 
	system VARCHAR(100) NOT NULL, 
	name TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_sent_file PRIMARY KEY (id), 
	CONSTRAINT uq_sent_file_submission_id UNIQUE (submission_id), 
	CONSTRAINT fk_sent_file_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (id) ON DELETE CASCADE, 
	CONSTRAINT fk_sent_file_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sent_file_account_set_id UNIQUE (account, set_id)
);
CREATE TABLE sent_file_part (
	id INTEGER NOT NULL, 
	file_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	content TEXT NOT NULL, 
	CONSTRAINT pk_sent_file_part PRIMARY KEY (id), 
	CONSTRAINT fk_sent_file_part_file_id_sent_file FOREIGN KEY(file_id) REFERENCES sent_file (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sent_file_part_file_id_position UNIQUE (file_id, position)
);
CREATE TABLE submission (
	id INTEGER NOT NULL, 
	set_id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	system VARCHAR(100) NOT NULL, 
	team TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	card JSON NOT NULL, 
	content_hash VARCHAR(64) NOT NULL, 
	answers INTEGER NOT NULL, 
	no_answers INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, phase VARCHAR(100) DEFAULT 'open' NOT NULL, anonymous BOOLEAN DEFAULT 0 NOT NULL, selected BOOLEAN DEFAULT 0 NOT NULL, withdrawn_at DATETIME, withdrawn_reason TEXT DEFAULT '' NOT NULL, submitted_at DATETIME, 
	CONSTRAINT pk_submission PRIMARY KEY (id), 
	CONSTRAINT fk_submission_set_id_question_set FOREIGN KEY(set_id) REFERENCES question_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_submission_set_id_system_version UNIQUE (set_id, system, version)
);
INSERT INTO "submission" VALUES(1,1,'reference','reference','',1,'accepted','{}','8904602bb83639df3e416f0cc27ff161cfbc6469d3f63c141a1694e1ad6e5827',6,0,'2026-11-26 22:42:21.395345','open',0,0,NULL,'','2026-11-26 22:42:21.393328');
INSERT INTO "submission" VALUES(2,1,'system','full','t',1,'accepted','{"model": "", "retriever": "", "passages": "", "organisation": "", "licence": "", "link": "", "contact": "", "notes": "", "open_weights": "", "parameters": "", "released": ""}','394d3daf33a5ee4c907506c064d9f983e4a10d4367fbdef80f42df15e8bba25b',6,0,'2026-11-26 22:42:24.002608','open',0,0,NULL,'','2026-11-26 22:42:24.002608');
INSERT INTO "submission" VALUES(3,1,'system','half','t',1,'accepted','{"model": "", "retriever": "", "passages": "", "organisation": "", "licence": "", "link": "", "contact": "", "notes": "", "open_weights": "", "parameters": "", "released": ""}','f67eb0ba88c6b97d0861a711a925b271140a9bb40c06bc228d732dbf684987fa',6,0,'2026-11-26 22:42:26.589791','open',0,0,NULL,'','2026-11-26 22:42:26.589791');
INSERT INTO "submission" VALUES(4,1,'system','off','t',1,'accepted','{"model": "", "retriever": "", "passages": "", "organisation": "", "licence": "", "link": "", "contact": "", "notes": "", "open_weights": "", "parameters": "", "released": ""}','cc5463940750db8143e54dfc5ef8dfbefe4b732433bc2c54bbc8cfcdf2c1b661',6,0,'2026-11-26 22:42:28.917876','open',0,0,NULL,'','2026-11-26 22:42:28.917876');
CREATE TABLE subscription (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	team VARCHAR(100) NOT NULL, 
	channel VARCHAR(16) NOT NULL, 
	address TEXT NOT NULL, 
	secret VARCHAR(100) NOT NULL, 
	kinds JSON NOT NULL, 
	created_at DATETIME NOT NULL, delivered INTEGER DEFAULT 0 NOT NULL, failed INTEGER DEFAULT 0 NOT NULL, error TEXT DEFAULT '' NOT NULL, failed_at DATETIME, 
	CONSTRAINT pk_subscription PRIMARY KEY (id)
);
CREATE TABLE team (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	title TEXT NOT NULL, 
	contact TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_team PRIMARY KEY (id), 
	CONSTRAINT uq_team_name UNIQUE (name)
);
INSERT INTO "team" VALUES(1,'t','t','','2026-11-26 22:42:23.991437');
CREATE TABLE text_index (
    submission_id INTEGER NOT NULL,
    term TEXT NOT NULL,
    part INTEGER NOT NULL,
    places BLOB NOT NULL,
    CONSTRAINT pk_text_index PRIMARY KEY (submission_id, term, part)
) WITHOUT ROWID;
INSERT INTO "text_index" VALUES(0,'1',0,X'0100010003000100');
INSERT INTO "text_index" VALUES(0,'2',0,X'0100020003000200');
INSERT INTO "text_index" VALUES(0,'3',0,X'0100030003000300');
INSERT INTO "text_index" VALUES(0,'4',0,X'0100040003000400');
INSERT INTO "text_index" VALUES(0,'5',0,X'0100050003000500');
INSERT INTO "text_index" VALUES(0,'6',0,X'0100060003000600');
INSERT INTO "text_index" VALUES(0,'question',0,X'000001000000020000000300000004000000050000000600');
INSERT INTO "text_index" VALUES(0,'rise',0,X'040001000400020004000300040004000400050004000600');
INSERT INTO "text_index" VALUES(0,'thing',0,X'020001000200020002000300020004000200050002000600');
INSERT INTO "text_index" VALUES(1,'1',0,X'05000100');
INSERT INTO "text_index" VALUES(1,'1911',0,X'07000100');
INSERT INTO "text_index" VALUES(1,'1912',0,X'07000200');
INSERT INTO "text_index" VALUES(1,'1913',0,X'07000300');
INSERT INTO "text_index" VALUES(1,'1914',0,X'07000400');
INSERT INTO "text_index" VALUES(1,'1915',0,X'07000500');
INSERT INTO "text_index" VALUES(1,'1916',0,X'07000600');
INSERT INTO "text_index" VALUES(1,'2',0,X'05000200');
INSERT INTO "text_index" VALUES(1,'3',0,X'05000300');
INSERT INTO "text_index" VALUES(1,'4',0,X'05000400');
INSERT INTO "text_index" VALUES(1,'5',0,X'05000500');
INSERT INTO "text_index" VALUES(1,'6',0,X'05000600');
INSERT INTO "text_index" VALUES(1,'built',0,X'060001000600020006000300060004000600050006000600');
INSERT INTO "text_index" VALUES(1,'expand',0,X'020001000200020002000300020004000200050002000600');
INSERT INTO "text_index" VALUES(1,'gas',0,X'030001000300020003000300030004000300050003000600');
INSERT INTO "text_index" VALUES(1,'heat',0,X'010001000100020001000300010004000100050001000600');
INSERT INTO "text_index" VALUES(1,'rise',0,X'000001000000020000000300000004000000050000000600');
INSERT INTO "text_index" VALUES(1,'thing',0,X'040001000400020004000300040004000400050004000600');
INSERT INTO "text_index" VALUES(2,'1',0,X'040001000400020004000300040004000400050004000600');
INSERT INTO "text_index" VALUES(2,'1911',0,X'06000100');
INSERT INTO "text_index" VALUES(2,'1912',0,X'06000200');
INSERT INTO "text_index" VALUES(2,'1913',0,X'06000300');
INSERT INTO "text_index" VALUES(2,'1914',0,X'06000400');
INSERT INTO "text_index" VALUES(2,'1915',0,X'06000500');
INSERT INTO "text_index" VALUES(2,'1916',0,X'06000600');
INSERT INTO "text_index" VALUES(2,'2',0,X'070001000700020007000300070004000700050007000600');
INSERT INTO "text_index" VALUES(2,'built',0,X'050001000500020005000300050004000500050005000600');
INSERT INTO "text_index" VALUES(2,'expand',0,X'020001000200020002000300020004000200050002000600');
INSERT INTO "text_index" VALUES(2,'gas',0,X'030001000300020003000300030004000300050003000600');
INSERT INTO "text_index" VALUES(2,'heat',0,X'010001000100020001000300010004000100050001000600');
INSERT INTO "text_index" VALUES(2,'rise',0,X'000001000000020000000300000004000000050000000600');
INSERT INTO "text_index" VALUES(3,'expand',0,X'010001000100020001000300010004000100050001000600');
INSERT INTO "text_index" VALUES(3,'gas',0,X'020001000200020002000300020004000200050002000600');
INSERT INTO "text_index" VALUES(3,'heat',0,X'000001000000020000000300000004000000050000000600');
INSERT INTO "text_index" VALUES(3,'rise',0,X'030001000300020003000300030004000300050003000600');
INSERT INTO "text_index" VALUES(4,'1950',0,X'0100030001000600');
INSERT INTO "text_index" VALUES(4,'built',0,X'0000030000000600');
INSERT INTO "text_index" VALUES(4,'know',0,X'01000100010002000100040001000500');
INSERT INTO "text_index" VALUES(4,'moon',0,X'03000100030002000300040003000500');
INSERT INTO "text_index" VALUES(4,'nobodi',0,X'00000100000002000000040000000500');
INSERT INTO "text_index" VALUES(4,'perhap',0,X'02000100020002000200040002000500');
INSERT INTO "text_index" VALUES(4,'pull',0,X'04000100040002000400040004000500');
CREATE TABLE token (
	id INTEGER NOT NULL, 
	prefix VARCHAR(16) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	team_id INTEGER, 
	account_id INTEGER, 
	scopes JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	revoked_at DATETIME, 
	used_at DATETIME, 
	CONSTRAINT pk_token PRIMARY KEY (id), 
	CONSTRAINT fk_token_team_id_team FOREIGN KEY(team_id) REFERENCES team (id) ON DELETE CASCADE, 
	CONSTRAINT fk_token_account_id_account FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE, 
	CONSTRAINT uq_token_prefix UNIQUE (prefix)
);
CREATE TABLE wave (
	round_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	seed BIGINT NOT NULL, 
	battles INTEGER NOT NULL, 
	width FLOAT, 
	chances JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_wave PRIMARY KEY (round_id, number), 
	CONSTRAINT fk_wave_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE
);
CREATE TABLE waves_end (
	round_id INTEGER NOT NULL, 
	reason VARCHAR(16) NOT NULL, 
	width FLOAT, 
	shares JSON NOT NULL, 
	classifier JSON, 
	ended_at DATETIME NOT NULL, 
	CONSTRAINT pk_waves_end PRIMARY KEY (round_id), 
	CONSTRAINT fk_waves_end_round_id_round FOREIGN KEY(round_id) REFERENCES round (id) ON DELETE CASCADE
);
CREATE TABLE web_session (
	digest VARCHAR(64) NOT NULL, 
	token_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_web_session PRIMARY KEY (digest), 
	CONSTRAINT fk_web_session_token_id_token FOREIGN KEY(token_id) REFERENCES token (id) ON DELETE CASCADE
);
CREATE INDEX ix_answer_question_id ON answer (question_id);
CREATE INDEX ix_battle_round_id_outcome ON battle (round_id, outcome);
CREATE INDEX ix_battle_round_id_question_id ON battle (round_id, question_id);
CREATE INDEX ix_judgment_battle_id ON judgment (battle_id);
CREATE INDEX ix_canary_battle_id ON canary (battle_id);
CREATE INDEX ix_submission_team_set_id ON submission (team, set_id);
CREATE INDEX ix_membership_account_id ON membership (account_id);
CREATE INDEX ix_token_team_id ON token (team_id);
CREATE INDEX ix_token_account_id ON token (account_id);
CREATE INDEX ix_web_session_token_id ON web_session (token_id);
CREATE INDEX ix_refused_token_key_at ON refused_token ("key", at);
CREATE INDEX ix_audit_team ON audit (team);
CREATE INDEX ix_audit_subject ON audit (subject);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'The audit log is only ever added to.'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'The audit log is only ever added to.'); END;
CREATE INDEX ix_job_state_priority ON job (state, priority);
CREATE UNIQUE INDEX uq_job_round_active ON job (round_id) WHERE state IN ('queued', 'running');
CREATE INDEX ix_battle_hold_seat_id ON battle_hold (seat_id);
CREATE INDEX ix_canary_hold_seat_id ON canary_hold (seat_id);
CREATE INDEX ix_battle_open ON battle (round_id, question_id, id) WHERE outcome IS NULL;
CREATE INDEX ix_annotation_task_set_id ON annotation_task (set_id);
CREATE INDEX ix_annotation_item_task_id_is_full_position ON annotation_item (task_id, is_full, position);
CREATE INDEX ix_annotation_person_account_id ON annotation_person (account_id);
CREATE INDEX ix_annotation_label_person_id ON annotation_label (person_id);
CREATE UNIQUE INDEX ix_board_standing ON board (round_id) WHERE replaced_at IS NULL;
CREATE INDEX ix_poll_pair_poll_id_visitor ON poll_pair (poll_id, visitor);
CREATE INDEX ix_poll_pair_poll_id_address_served_at ON poll_pair (poll_id, address, served_at);
CREATE INDEX ix_asking_battle_id ON asking (battle_id);
CREATE INDEX ix_asking_retest_id_outcome ON asking (retest_id, outcome);
CREATE INDEX ix_asking_round_id_outcome ON asking (round_id, outcome);
CREATE INDEX ix_asking_hold_seat_id ON asking_hold (seat_id);
CREATE INDEX ix_cheap_verdict_round_id_place ON cheap_verdict (round_id, place);
CREATE INDEX ix_ranking_question_id ON ranking (question_id);
CREATE INDEX ix_qrel_question_id ON qrel (question_id);
CREATE INDEX ix_reference_check_label_id ON reference_check (label_id);
CREATE INDEX ix_subscription_team ON subscription (team);
CREATE INDEX ix_delivery_state_next_at ON delivery (state, next_at);
CREATE INDEX ix_delivery_subscription_id ON delivery (subscription_id);
CREATE INDEX ix_delivery_event_id ON delivery (event_id);
CREATE INDEX ix_application_state ON application (state);
CREATE INDEX ix_application_created_at ON application (created_at);
CREATE INDEX ix_battle_round_id_a_id ON battle (round_id, a_id);
CREATE INDEX ix_battle_round_id_b_id ON battle (round_id, b_id);
CREATE INDEX ix_sent_file_set_id ON sent_file (set_id);
CREATE INDEX ix_concern_battle_id ON concern (battle_id);
CREATE INDEX ix_concern_submission_id ON concern (submission_id);
CREATE INDEX ix_concern_reporter ON concern (reporter);
CREATE INDEX ix_concern_round_id ON concern (round_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('seat',1);
COMMIT;
