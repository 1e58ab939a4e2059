#include "sim/study/sweep/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/input_file.h"

namespace systole::sqlite {
namespace {

constexpr std::chrono::milliseconds pause{50};
constexpr int most_pauses = 2400;  // two minutes
constexpr int silent_pauses = 20;  // a second

std::function<void(const std::string&)>& waiting() {
    static std::function<void(const std::string&)> tell;
    return tell;
}

/// A file that nobody changes while it is open, as a URI of SQLite.
std::string uri_of(const std::string& file) {
    std::string uri = "file:";
    for (const char letter : file) {
        if (letter == '?' || letter == '#' || letter == '%') {
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(letter));
        } else {
            uri += letter;
        }
    }
    return uri + "?immutable=1";
}

}  // namespace

void tell_waiting(std::function<void(const std::string& file)> tell) {
    waiting() = std::move(tell);
}

Connection::Connection(const std::filesystem::path& file, Mode mode) : file_(file.string()) {
    // SQLite would wait for somebody at the other end of a pipe.
    if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
        throw DatabaseError(fmt::format("{}: {}", file_, input_fault(file).value_or("is no regular file")));
    }
    if (mode == Mode::Read && !std::filesystem::exists(file)) {
        throw DatabaseError(fmt::format("{}: there is no such file", file_));
    }
    if (mode == Mode::Write) {
        if (!open(file_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) throw_not_opened();
        return;
    }
    // A reader opens to write as well, so that its end removes the files that SQLite keeps beside an open
    // one. In a folder of somebody else it cannot; and where nobody has it open there, it is read as it is.
    if (open(file_, SQLITE_OPEN_READWRITE) && is_readable()) return;
    if (open(file_, SQLITE_OPEN_READONLY) && is_readable()) return;
    const std::string fixed = uri_of(std::filesystem::absolute(file).string());
    if (open(fixed, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) && is_readable()) return;
    if (!open(file_, SQLITE_OPEN_READONLY)) throw_not_opened();  // its first use says what is wrong
}

bool Connection::open(const std::string& place, int flags) {
    sqlite3_close(database_);
    database_ = nullptr;
    const bool is_open = sqlite3_open_v2(place.c_str(), &database_, flags, nullptr) == SQLITE_OK;
    if (is_open) sqlite3_busy_handler(database_, wait, this);
    return is_open;
}

int Connection::wait(void* connection, int times) {
    auto& self = *static_cast<Connection*>(connection);
    if (times >= most_pauses) return 0;
    if (times >= silent_pauses && !self.has_told_ && waiting()) {
        self.has_told_ = true;
        waiting()(self.file_);
    }
    std::this_thread::sleep_for(pause);
    return 1;
}

bool Connection::is_readable() {
    return sqlite3_exec(database_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) ==
           SQLITE_OK;
}

void Connection::throw_not_opened() {
    const std::string reason = database_ == nullptr ? "no memory" : sqlite3_errmsg(database_);
    sqlite3_close(database_);
    throw DatabaseError(fmt::format("{}: cannot be opened: {}", file_, reason));
}

Connection::~Connection() {
    sqlite3_close(database_);
}

void Connection::fail() const {
    if (sqlite3_errcode(database_) == SQLITE_BUSY) {
        throw DatabaseError(fmt::format("{}: another process has kept it locked for {} minutes", file_,
                                        most_pauses * pause / std::chrono::minutes(1)));
    }
    const std::string reason = sqlite3_errmsg(database_);
    switch (sqlite3_errcode(database_)) {
        case SQLITE_NOTADB:
            throw DatabaseError(fmt::format("{}: it is no file of a study's results: {}", file_, reason));
        case SQLITE_CORRUPT:
            throw DatabaseError(
                fmt::format("{}: the file of results is damaged or cut off: {}", file_, reason));
        case SQLITE_ERROR:  // no such table or column: the statements themselves are right
            throw DatabaseError(fmt::format("{}: the file of results is incomplete: {}", file_, reason));
        default:
            throw DatabaseError(fmt::format("{}: {}", file_, reason));
    }
}

void Connection::run(const std::string& sql) {
    if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Connection::changes() const {
    return sqlite3_changes64(database_);
}

Statement::Statement(Connection& connection, std::string_view sql) : connection_(connection) {
    if (sqlite3_prepare_v2(connection.handle(), sql.data(), static_cast<int>(sql.size()), &statement_,
                           nullptr) != SQLITE_OK) {
        connection.fail();
    }
}

Statement::~Statement() {
    sqlite3_finalize(statement_);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
    if (sqlite3_bind_int64(statement_, parameter, value) != SQLITE_OK) connection_.fail();
    return *this;
}

Statement& Statement::bind(int parameter, double value) {
    if (sqlite3_bind_double(statement_, parameter, value) != SQLITE_OK) connection_.fail();
    return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
    if (sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
        SQLITE_OK) {
        connection_.fail();
    }
    return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
    if (sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_TRANSIENT) !=
        SQLITE_OK) {
        connection_.fail();
    }
    return *this;
}

Statement& Statement::bind_null(int parameter) {
    if (sqlite3_bind_null(statement_, parameter) != SQLITE_OK) connection_.fail();
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    sqlite3_reset(statement_);
    if (code != SQLITE_DONE) connection_.fail();
    return false;
}

void Statement::run() {
    if (step()) throw std::logic_error("a statement without rows has a row");
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
    return bytes(column);
}

std::string Statement::bytes(int column) const {
    const void* const start = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return start == nullptr ? std::string()
                            : std::string(static_cast<const char*>(start), static_cast<std::size_t>(size));
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
    connection_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
    if (!is_open_) return;
    // SQLite has undone it already after some errors, such as a full disk.
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    connection_.run("COMMIT");
    is_open_ = false;
}

}  // namespace systole::sqlite
