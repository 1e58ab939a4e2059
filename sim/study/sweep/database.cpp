#include "sim/study/sweep/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/interruption.h"
#include "sim/study/sweep/owner.h"

namespace systole::sweep {
namespace fs = std::filesystem;

namespace {

using sqlite::Connection;
using sqlite::DatabaseError;
using sqlite::Statement;
using sqlite::Transaction;

constexpr std::int64_t kind_of_file = 0x53795374;  // "SySt": PRAGMA application_id
constexpr std::int64_t version_of_file = 1;        // PRAGMA user_version

/// A process on another computer is dead if it was silent so long; it beats every few seconds.
constexpr std::int64_t longest_silence_seconds = 120;
/// The note with the plan's fingerprint.
constexpr std::string_view fingerprint_note = "fingerprint";
/// A run whose process dies so often fails: a further attempt would hardly help.
constexpr std::int64_t most_deaths = 3;

constexpr const char* tables = R"(
CREATE TABLE notes(
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL);
CREATE TABLE owners(
    owner INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice
    host TEXT NOT NULL, boot TEXT NOT NULL, process INTEGER NOT NULL, begin INTEGER NOT NULL,
    beat INTEGER NOT NULL);      -- seconds since 1970
CREATE TABLE points(
    number INTEGER PRIMARY KEY,
    settings TEXT NOT NULL,      -- JSON
    key TEXT NOT NULL);          -- SHA-256 of the whole spec and the simulator's build
CREATE INDEX points_by_key ON points(key);
CREATE TABLE runs(
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed')),
    owner INTEGER,               -- of a running one
    attempts INTEGER NOT NULL DEFAULT 0,
    deaths INTEGER NOT NULL DEFAULT 0,
    version TEXT,                -- of the simulator
    host TEXT,
    wall_seconds REAL,
    metrics TEXT,                -- JSON
    error TEXT);
CREATE INDEX unfinished_runs ON runs(state) WHERE state IN ('pending', 'running');
CREATE TABLE records(
    key TEXT PRIMARY KEY,
    record BLOB,                 -- a RunRecord, its spec included, in CBOR and zlib
    spec BLOB);                  -- a RunSpec likewise, of a run without a record
)";

std::int64_t seconds_now() {
    using namespace std::chrono;
    return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

/// A name as SQL takes it.
std::string sql_name(std::string_view name) {
    std::string text = "\"";
    for (const char letter : name) {
        if (letter == '"') text += '"';
        text += letter;
    }
    return text + "\"";
}

/// A path of one key for json_extract, as an SQL text.
std::string json_path(std::string_view key) {
    std::string text = "'$.\"";
    for (const char letter : key) {
        if (letter == '\'') text += '\'';
        text += letter;
    }
    return text + "\"'";
}

std::int64_t pragma(Connection& connection, std::string_view name) {
    Statement read(connection, fmt::format("PRAGMA {}", name));
    return read.step() ? read.integer(0) : 0;
}

/// Removes what processes left that were killed while they made the file. Making it takes a moment.
void remove_old_parts(const fs::path& file) {
    constexpr auto young = std::chrono::minutes(10);
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::absolute(file).parent_path(), ignored)) {
        if (!entry.path().filename().string().starts_with(file.filename().string() + ".part-")) continue;
        if (fs::file_time_type::clock::now() - entry.last_write_time(ignored) < young) continue;
        fs::remove(entry.path(), ignored);
    }
}

/// A file that is being made, and what SQLite keeps beside it: removed at the end, also where the disk is
/// full or a signal ends the process.
class UnfinishedFile {
public:
    explicit UnfinishedFile(fs::path place) : place_(std::move(place)), undone_([this] { remove(); }) {
        remove();  // of a killed process that had the same number
    }
    ~UnfinishedFile() { remove(); }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    const fs::path& place() const { return place_; }

private:
    void remove() const {
        std::error_code ignored;
        for (const char* const ending : {"", "-wal", "-shm", "-journal"})
            fs::remove(place_.string() + ending, ignored);
    }

    fs::path place_;
    UndoneOnInterruption undone_;
};

/// Makes the file, whole or not at all: two processes may do so at once.
void create(const fs::path& file) {
    remove_old_parts(file);
    const UnfinishedFile part(fmt::format("{}.part-{}", file.string(), this_process().process));
    {
        Connection connection(part.place(), Connection::Mode::Write);
        connection.run("PRAGMA journal_mode = WAL");
        connection.run(fmt::format("PRAGMA application_id = {}", kind_of_file));
        connection.run(fmt::format("PRAGMA user_version = {}", version_of_file));
        connection.run(tables);
    }
    std::error_code error;
    fs::create_hard_link(part.place(), file, error);  // fails if another process was quicker
    if (error && !fs::exists(file)) fs::rename(part.place(), file, error);
    if (!fs::exists(file)) {
        throw DatabaseError(fmt::format("{}: cannot be created: {}", file.string(), error.message()));
    }
}

}  // namespace

bool is_same_column(std::string_view one, std::string_view other) {
    const auto small = [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    };
    return std::ranges::equal(one, other, {}, small, small);
}

Database::Database(const fs::path& file, Connection::Mode mode)
    : connection_(file, mode), file_(file.string()) {
    check_kind(file);
    // A commit survives the death of every process. The last ones may be lost if the computer loses power.
    if (mode == Connection::Mode::Write) connection_.run("PRAGMA synchronous = NORMAL");
    connection_.run("CREATE TEMP TABLE selected(number INTEGER PRIMARY KEY)");
    select_all();
}

Database Database::open(const fs::path& file) {
    if (!fs::exists(file)) create(file);
    return {file, Connection::Mode::Write};
}

Database Database::open_to_read(const fs::path& file) {
    return {file, Connection::Mode::Read};
}

Database::~Database() = default;

void Database::check_kind(const fs::path& file) {
    if (pragma(connection_, "application_id") != kind_of_file) {
        throw DatabaseError(fmt::format("{}: it is no file of a study's results", file.string()));
    }
    const std::int64_t version = pragma(connection_, "user_version");
    if (version != version_of_file) {
        throw DatabaseError(fmt::format("{}: its format is version {}; this simulator reads version {}",
                                        file.string(), version, version_of_file));
    }
}

std::string Database::note(std::string_view name) {
    Statement read(connection_, "SELECT text FROM notes WHERE name = ?");
    return read.bind(1, name).step() ? read.text(0) : std::string();
}

void Database::set_note(std::string_view name, std::string_view text) {
    Statement(connection_, "INSERT OR REPLACE INTO notes VALUES (?, ?)").bind(1, name).bind(2, text).run();
}

void Database::make_view(std::span<const std::string> keys, std::span<const std::string> metrics) {
    std::string columns = "points.number AS point";
    for (const std::string& key : keys) {
        columns += fmt::format(", json_extract(points.settings, {}) AS {}", json_path(key), sql_name(key));
    }
    columns += ", runs.state AS state";
    for (const std::string& metric : metrics) {
        columns += fmt::format(", json_extract(runs.metrics, {}) AS {}", json_path(metric), sql_name(metric));
    }
    columns +=
        ", runs.error AS error, runs.wall_seconds AS wall_seconds, runs.attempts AS attempts, "
        "runs.host AS host, runs.version AS version, points.key AS key";
    connection_.run("DROP VIEW IF EXISTS results");
    connection_.run(fmt::format(
        "CREATE VIEW results AS SELECT {} FROM points JOIN runs USING (key) ORDER BY points.number",
        columns));
}

void Database::plan(std::span<const PlannedPoint> points, std::span<const std::string> keys,
                    std::span<const std::string> metrics, const PlanNotes& notes) {
    Transaction transaction(connection_);
    set_note(study_note, notes.study);
    set_note(fingerprint_note, notes.fingerprint);
    connection_.run("DELETE FROM points");
    {
        Statement add(connection_, "INSERT INTO points(number, settings, key) VALUES (?, ?, ?)");
        Statement add_run(connection_, "INSERT OR IGNORE INTO runs(key, state) VALUES (?, 'pending')");
        Statement add_failed(connection_,
                             "INSERT OR REPLACE INTO runs(key, state, error) VALUES (?, 'failed', ?)");
        for (const PlannedPoint& point : points) {
            add.bind(1, static_cast<std::int64_t>(point.number)).bind(2, point.settings).bind(3, point.key);
            add.run();
            if (point.error.empty()) {
                add_run.bind(1, point.key).run();
            } else {
                add_failed.bind(1, point.key).bind(2, point.error).run();
            }
        }
    }
    make_view(keys, metrics);
    transaction.commit();
    fingerprint_ = notes.fingerprint;
    select_all();
}

void Database::forget_plan() {
    set_note(fingerprint_note, "");
    fingerprint_.clear();
}

bool Database::resume(std::string_view fingerprint) {
    if (note(fingerprint_note) != fingerprint) return false;
    fingerprint_ = fingerprint;
    return true;
}

void Database::select_all() {
    connection_.run("DELETE FROM selected");
    connection_.run("INSERT INTO selected SELECT number FROM points");
}

void Database::select(std::span<const std::uint64_t> numbers) {
    connection_.run("DELETE FROM selected");
    Statement add(connection_, "INSERT OR IGNORE INTO selected VALUES (?)");
    connection_.run("BEGIN");
    for (const std::uint64_t number : numbers) add.bind(1, static_cast<std::int64_t>(number)).run();
    connection_.run("COMMIT");
}

void Database::check_plan() {
    if (fingerprint_.empty() || note(fingerprint_note) == fingerprint_) return;
    throw DatabaseError(fmt::format(
        "{}: another process runs another study of this name now: give one of the two another --name",
        file_));
}

std::uint64_t Database::free_points_of_the_dead() {
    std::uint64_t freed = 0;
    Transaction transaction(connection_);
    std::vector<std::int64_t> dead;
    {
        Statement read(connection_, "SELECT owner, host, boot, process, begin, beat FROM owners");
        while (read.step()) {
            const Owner owner{.host = read.text(1),
                              .boot = read.text(2),
                              .process = read.integer(3),
                              .begin = read.integer(4)};
            const bool is_silent = seconds_now() - read.integer(5) > longest_silence_seconds;
            if (is_visible(owner) ? !is_alive(owner) : is_silent) dead.push_back(read.integer(0));
        }
    }
    for (const std::int64_t owner : dead) {
        Statement(connection_,
                  "UPDATE runs SET state = 'pending', owner = NULL WHERE state = 'running' AND owner = ?")
            .bind(1, owner)
            .run();
        freed += static_cast<std::uint64_t>(connection_.changes());
        Statement(connection_, "DELETE FROM owners WHERE owner = ?").bind(1, owner).run();
    }
    // Those of a process that was taken for dead, and has claimed more since.
    connection_.run(
        "UPDATE runs SET state = 'pending', owner = NULL WHERE state = 'running' AND owner NOT IN (SELECT "
        "owner FROM owners)");
    freed += static_cast<std::uint64_t>(connection_.changes());
    transaction.commit();
    return freed;
}

std::uint64_t Database::retry_failed() {
    Statement(connection_,
              "UPDATE runs SET state = 'pending', error = NULL, deaths = 0 WHERE state = 'failed' AND key IN "
              "(SELECT key FROM points JOIN selected USING (number))")
        .run();
    return static_cast<std::uint64_t>(connection_.changes());
}

void Database::register_owner() {
    const Owner owner = this_process();
    Statement add(
        connection_,
        "INSERT INTO owners(host, boot, process, begin, beat) VALUES (?, ?, ?, ?, ?) RETURNING owner");
    add.bind(1, owner.host).bind(2, owner.boot).bind(3, owner.process).bind(4, owner.begin);
    add.bind(5, seconds_now());
    add.step();
    owner_ = add.integer(0);
    while (add.step()) {
    }
}

std::vector<Claim> Database::claim(std::uint64_t most) {
    Transaction transaction(connection_);
    check_plan();
    if (owner_ == 0) register_owner();
    std::vector<Claim> claims;
    {
        // From behind the last one on, because of many points most are done; then from the first.
        Statement read(
            connection_,
            "SELECT number, key FROM selected CROSS JOIN points USING (number) CROSS JOIN runs USING "
            "(key) WHERE number > ? AND state = 'pending' ORDER BY number LIMIT ?");
        for (int pass = 0; pass < 2 && claims.empty(); ++pass) {
            if (pass == 1) last_claimed_ = 0;
            read.bind(1, last_claimed_).bind(2, static_cast<std::int64_t>(most));
            while (read.step()) {
                claims.push_back(
                    {.number = static_cast<std::uint64_t>(read.integer(0)), .key = read.text(1)});
            }
        }
        if (!claims.empty()) last_claimed_ = static_cast<std::int64_t>(claims.back().number);
    }
    Statement take(
        connection_,
        "UPDATE runs SET state = 'running', owner = ?, attempts = attempts + 1, host = ?, version = ? "
        "WHERE key = ? AND state = 'pending'");
    const std::string host = this_process().host;
    std::erase_if(claims, [&](const Claim& claim) {
        take.bind(1, owner_).bind(2, host).bind(3, std::string_view(SYSTOLE_VERSION)).bind(4, claim.key);
        take.run();
        return connection_.changes() == 0;  // equal specs are run once
    });
    transaction.commit();
    return claims;
}

void Database::finish(const std::string& key, const RunResult& result) {
    // Only if it is still this process's: another may have taken it for dead, and run it again.
    store(key, result, true);
}

bool Database::adopt(const std::string& key, const RunResult& result) {
    return store(key, result, false);
}

bool Database::store(const std::string& key, const RunResult& result, bool is_own) {
    Transaction transaction(connection_);
    check_plan();  // another plan may have other metrics
    const bool failed = !result.error.empty();
    Statement end(connection_, fmt::format("UPDATE runs SET state = ?, owner = NULL, wall_seconds = ?, "
                                           "metrics = ?, error = ?, host = coalesce(?, host), version = ? "
                                           "WHERE key = ? AND {}",
                                           is_own   ? "state = 'running' AND owner = ?"
                                           : failed ? "state IN ('pending', 'running')"
                                                    : "state IN ('pending', 'running', 'failed')"));
    end.bind(1, std::string_view(failed ? "failed" : "done")).bind(2, result.wall_seconds);
    failed ? end.bind_null(3) : end.bind(3, result.metrics);
    failed ? end.bind(4, result.error) : end.bind_null(4);
    result.host.empty() ? end.bind_null(5) : end.bind(5, result.host);
    end.bind(6, std::string_view(SYSTOLE_VERSION)).bind(7, key);
    if (is_own) end.bind(8, owner_);
    end.run();
    const bool is_stored = connection_.changes() == 1;
    if (is_stored) {
        Statement add(connection_, "INSERT OR REPLACE INTO records(key, record, spec) VALUES (?, ?, ?)");
        add.bind(1, key);
        failed ? add.bind_null(2) : add.bind_bytes(2, result.record);
        failed ? add.bind_bytes(3, result.spec) : add.bind_null(3);
        add.run();
    }
    transaction.commit();
    return is_stored;
}

void Database::give_back(const std::string& key, std::string_view died) {
    Transaction transaction(connection_);
    if (died.empty()) {
        Statement(connection_,
                  "UPDATE runs SET state = 'pending', owner = NULL WHERE key = ? AND state = 'running' AND "
                  "owner = ?")
            .bind(1, key)
            .bind(2, owner_)
            .run();
    } else {
        Statement(
            connection_,
            "UPDATE runs SET deaths = deaths + 1, owner = NULL, "
            "state = CASE WHEN deaths + 1 >= ? THEN 'failed' ELSE 'pending' END, "
            "error = CASE WHEN deaths + 1 >= ? THEN ? END WHERE key = ? AND state = 'running' AND owner = ?")
            .bind(1, most_deaths)
            .bind(2, most_deaths)
            .bind(3, fmt::format("{}, in each of {} attempts", died, most_deaths))
            .bind(4, key)
            .bind(5, owner_)
            .run();
    }
    transaction.commit();
}

void Database::beat() {
    if (owner_ == 0) return;
    Statement(connection_, "UPDATE owners SET beat = ? WHERE owner = ?")
        .bind(1, seconds_now())
        .bind(2, owner_)
        .run();
    if (connection_.changes() == 0) register_owner();  // it was taken for dead
}

Counts Database::counts() {
    Statement read(
        connection_,
        "SELECT state, count(*) FROM selected JOIN points USING (number) JOIN runs USING (key) GROUP "
        "BY state");
    Counts counts;
    while (read.step()) {
        const std::string state = read.text(0);
        const auto number = static_cast<std::uint64_t>(read.integer(1));
        if (state == "pending") counts.pending = number;
        if (state == "running") counts.running = number;
        if (state == "done") counts.done = number;
        if (state == "failed") counts.failed = number;
    }
    return counts;
}

std::vector<StoredPoint> Database::points() {
    Statement read(connection_,
                   "SELECT number, settings, state, metrics, error FROM selected JOIN points USING (number) "
                   "LEFT JOIN runs USING (key) ORDER BY number");
    std::vector<StoredPoint> points;
    constexpr std::array<std::string_view, 4> states{"pending", "running", "done", "failed"};
    while (read.step()) {
        if (std::ranges::find(states, read.text(2)) == states.end()) {
            throw DatabaseError(fmt::format("{}: the file of results is damaged: point {} is {}", file_,
                                            read.integer(0),
                                            read.is_null(2) ? "without a run" : "\"" + read.text(2) + "\""));
        }
        points.push_back({.number = static_cast<std::uint64_t>(read.integer(0)),
                          .settings = read.text(1),
                          .state = read.text(2),
                          .metrics = read.text(3),
                          .error = read.text(4)});
    }
    return points;
}

std::string Database::state(std::uint64_t number) {
    Statement read(connection_, "SELECT state FROM points JOIN runs USING (key) WHERE number = ?");
    read.bind(1, static_cast<std::int64_t>(number));
    return read.step() ? read.text(0) : std::string();
}

std::optional<std::string> Database::record(std::uint64_t number) {
    Statement read(
        connection_,
        "SELECT record FROM points JOIN records USING (key) WHERE number = ? AND record IS NOT NULL");
    read.bind(1, static_cast<std::int64_t>(number));
    if (!read.step()) return std::nullopt;
    return read.bytes(0);
}

std::vector<std::string> Database::done_runs() {
    Statement read(connection_, "SELECT key FROM runs WHERE state = 'done' ORDER BY key");
    std::vector<std::string> keys;
    while (read.step()) keys.push_back(read.text(0));
    return keys;
}

std::optional<std::string> Database::record_of_run(std::string_view key) {
    Statement read(connection_, "SELECT record FROM records WHERE key = ? AND record IS NOT NULL");
    read.bind(1, key);
    if (!read.step()) return std::nullopt;
    return read.bytes(0);
}

void Database::set_metrics(std::string_view key, std::string_view metrics) {
    Statement(connection_, "UPDATE runs SET metrics = ? WHERE key = ? AND state = 'done'")
        .bind(1, metrics)
        .bind(2, key)
        .run();
}

}  // namespace systole::sweep
