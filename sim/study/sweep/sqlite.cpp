#include "sim/study/sweep/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

namespace systole::sqlite {
namespace {

constexpr int patience_milliseconds = 120'000;

}  // namespace

Connection::Connection(const std::filesystem::path& file, Mode mode) : file_(file.string()) {
    const int flags = mode == Mode::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(file_.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
        const std::string reason = database_ == nullptr ? "no memory" : sqlite3_errmsg(database_);
        sqlite3_close(database_);
        throw DatabaseError(fmt::format("{}: cannot be opened: {}", file_, reason));
    }
    sqlite3_busy_timeout(database_, patience_milliseconds);
}

Connection::~Connection() {
    sqlite3_close(database_);
}

void Connection::fail() const {
    throw DatabaseError(fmt::format("{}: {}", file_, sqlite3_errmsg(database_)));
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
