#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/user_error.h"

struct sqlite3;
struct sqlite3_stmt;

/// The part of SQLite that studies use, with errors as exceptions.
namespace systole::sqlite {

/// The file cannot be read or written. The message is one line that begins with the file.
class DatabaseError : public UserError {
public:
    using UserError::UserError;
};

/// Says which file waits for another process that has it locked, once for each connection that has waited for
/// a second. Nobody is told at first.
void tell_waiting(std::function<void(const std::string& file)> tell);

class Connection;

/// A statement, prepared once and executed often. Parameters and columns count from 1 and from 0, as SQLite
/// counts them.
class Statement {
public:
    Statement(Connection& connection, std::string_view sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(int parameter, std::int64_t value);
    Statement& bind(int parameter, double value);
    Statement& bind(int parameter, std::string_view text);
    Statement& bind_bytes(int parameter, std::string_view bytes);
    Statement& bind_null(int parameter);

    /// Executes to the next row; false at the end, and then the statement can be executed again.
    bool step();
    /// Executes a statement without rows.
    void run();

    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::string bytes(int column) const;

private:
    Connection& connection_;
    sqlite3_stmt* statement_ = nullptr;
};

/// An open file. Waits while another process writes, for up to two minutes.
class Connection {
public:
    enum class Mode { Read, Write };
    /// `Write` creates the file if there is none; `Read` is for statements that change nothing. Throws
    /// DatabaseError, also for what is no regular file.
    Connection(const std::filesystem::path& file, Mode mode);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Statements that return nothing.
    void run(const std::string& sql);
    std::int64_t changes() const;
    [[noreturn]] void fail() const;
    sqlite3* handle() const { return database_; }

private:
    bool open(const std::string& place, int flags);
    bool is_readable();
    [[noreturn]] void throw_not_opened();
    /// SQLite's: whether to try again, after a pause.
    static int wait(void* connection, int times);

    std::string file_;
    sqlite3* database_ = nullptr;
    bool has_told_ = false;  ///< that it waits
};

/// A transaction that takes the right to write at its begin. Undone unless `commit` is called.
class Transaction {
public:
    explicit Transaction(Connection& connection);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    Connection& connection_;
    bool is_open_ = true;
};

}  // namespace systole::sqlite
