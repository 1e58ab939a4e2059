#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/execute/worker.h"
#include "sim/view/arrays/output_files.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_file.h"

namespace systole::cli {
namespace {

/// Writes the arrays that the run asks for. Returns report.json and, in `output_files`, which array is in
/// which file.
std::string report_of(const run::RunRecord& record, const run::RunConfig& config) {
    auto files = nlohmann::ordered_json::array();
    const auto write = [&](const char* kind, const std::vector<run::OutputArray>& values,
                           const std::string& folder) {
        if (folder.empty()) return;
        report::make_folder(folder);
        for (const auto& [output, file, contents] : arrays::write_outputs(values, folder)) {
            files.push_back({{"output", output}, {"kind", kind}, {"file", file.string()}});
        }
    };
    write("outputs", record.answers.output_arrays, config.outputs);
    write("float_outputs", record.answers.float_output_arrays, config.float_outputs);
    nlohmann::ordered_json report = report::make_report(record);
    report["output_files"] = std::move(files);
    // A name from a file may be no UTF-8.
    return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void add_worker_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("worker", "Run specs from stdin and write records to stdout");
    command->footer(
        "Examples:\n"
        "  sim worker < /dev/null\n\n"
        "For programs that spread runs over processes, as the Python package does:\n"
        "sim/run/execute/worker.h describes the messages.");
    command->callback([&context] {
        const run::ScratchFolder folder;
        run::serve(STDIN_FILENO, STDOUT_FILENO, folder.path(), {},
                   {.report = report_of, .warn = [&context](const std::string& message) {
                        print_warning(context.screen.error(), message);
                    }});
    });
}

}  // namespace systole::cli
