#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/run/record/content.h"
#include "sim/run/record/fields.h"

/// A process that runs many specs, one behind the other, for whoever sends them.
///
/// Each message to it begins with a byte that says what follows: 'c', a content, which it keeps: the length
/// of its ContentHeader in eight bytes, little endian, the header, and the bytes of its files; 's', a
/// RunSpec, whose contents have come before. To each spec it answers with a message: 'r' and the RunRecord,
/// or 'e' and, in one line, why there is none.
namespace systole::run {

constexpr char content_message = 'c';
constexpr char spec_message = 's';
constexpr char record_message = 'r';
constexpr char error_message = 'e';

/// A file on its way; where it is one of a folder, `name` is its name in that.
struct FileHeader {
    std::string name;
    std::uint64_t bytes = 0;
};
SYSTOLE_RECORD_FIELDS(FileHeader, name, bytes)

/// A content as it travels, once to each worker. The bytes of its files follow, one behind the other.
struct ContentHeader {
    std::string name;
    std::string hash;
    bool is_folder = false;
    std::vector<FileHeader> files;
};
SYSTOLE_RECORD_FIELDS(ContentHeader, name, hash, is_folder, files)

/// The message with a content's files, as far as they can be read.
std::string message_of(const Content& content);

/// Does what messages from `in` ask for and answers on `out`, until `in` ends. Contents are kept in the
/// folder. The process has no thread beside this one, and has begun no simulation.
void serve(int in, int out, const std::filesystem::path& folder);

}  // namespace systole::run
