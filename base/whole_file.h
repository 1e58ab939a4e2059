#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/interruption.h"
#include "base/user_error.h"

namespace systole {

/// A result cannot be written. The message is one line: "file: cannot be written: reason".
class OutputError : public UserError {
public:
    using UserError::UserError;
};

/// A file that has its name only when it is complete: until then its bytes are in a file
/// ".part-HOST-PROCESS-NAME" in the same folder, which the destructor removes. So a full disk, an error, a
/// kill or Ctrl-C leave no half file, and an older file of the name stays as it was.
///
/// What is no regular file (a FIFO, /dev/stdout) is written directly. A symbolic link keeps its place: the
/// file that it leads to is replaced, or created. A file in a folder where none can be created is refused,
/// even if it could be overwritten: it would be half a file for a while. All functions throw OutputError.
class WholeFile {
public:
    explicit WholeFile(std::filesystem::path path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    void write(std::string_view bytes);
    /// Gives the file its name; no call may follow.
    void commit();

    /// Where the bytes are before `commit`, for a library that opens the file by itself. The file name's
    /// extension is that of the final name.
    const std::filesystem::path& place() const { return place_; }

private:
    void check() const;

    const std::filesystem::path path_;  ///< as given, for messages
    std::filesystem::path target_;      ///< without symbolic links
    std::filesystem::path place_;       ///< equal to target_ for what is written directly
    std::ofstream file_;
    std::optional<UndoneOnInterruption> unfinished_;
};

/// Writes a whole file, or throws OutputError.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace systole
