#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/record/content.h"
#include "sim/run/record/fields.h"
#include "sim/run/record/record.h"
#include "sim/run/run_config.h"

/// A process that runs many specs, one after the other, for the process that sends them.
///
/// The first byte of a message to it is its kind. 'c' is a content, which the worker keeps: the length of its
/// ContentHeader in eight bytes, little endian, the header, and the bytes of its files. 's' is a RunSpec,
/// whose contents were sent before. The worker answers each spec with a message: 'r' and the RunRecord, 'e'
/// and an error message of one line, or 'd' and how the simulation's process died, which another attempt may
/// not.
///
/// Programs that do not know the records send 'j' and JSON text (sim/run/request.h), whose paths the worker
/// opens itself. The answer is 'e' or 'd' as above, or 'p' and what the worker's program makes of the record:
/// `sim worker` makes report.json, and adds in `output_files` the arrays that it wrote. A request for a
/// machine is answered with 'p' and the machine file's object with every key.
namespace systole::run {

constexpr char content_message = 'c';
constexpr char spec_message = 's';
constexpr char request_message = 'j';
constexpr char record_message = 'r';
constexpr char report_message = 'p';
constexpr char error_message = 'e';
constexpr char died_message = 'd';

/// A file in a message; for a file of a folder, `name` is its name in the folder.
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

/// Where a worker with this folder keeps a content: a file, or a folder with the content's files. A process
/// on the same computer may put it there itself, instead of sending it.
std::filesystem::path place_of(const std::filesystem::path& folder, const Content& content);

/// What a worker answers of a record: by default, the record's bytes.
using Summary = std::function<std::string(const RunRecord& record)>;

/// How a program answers requests in JSON. Both are called in the process of the simulation.
struct RequestAnswers {
    std::function<std::string(const RunRecord& record, const RunConfig& config)> report;
    std::function<void(const std::string& message)> warn;  ///< as Observer::warn
};

/// Executes the messages from `in` and answers on `out`, until `in` ends. Contents are kept in the folder.
/// The process must have no other thread and must not have begun a simulation. `summary` is called in the
/// process of the simulation; an exception in it is an error of the spec. Without `requests`, a request in
/// JSON is a message of an unknown kind.
void serve(int in, int out, const std::filesystem::path& folder, const Summary& summary = {},
           const RequestAnswers& requests = {});

}  // namespace systole::run
