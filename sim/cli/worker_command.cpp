#include <unistd.h>

#include "sim/cli/command.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/execute/worker.h"

namespace systole::cli {

void add_worker_command(CLI::App& app, Context&) {
    CLI::App* command = app.add_subcommand("worker", "Run specs from stdin and write records to stdout");
    command->footer(
        "Examples:\n"
        "  sim worker < /dev/null\n\n"
        "For programs that spread runs over processes: sim/run/execute/worker.h describes\n"
        "the messages.");
    command->callback([] {
        const run::ScratchFolder folder;
        run::serve(STDIN_FILENO, STDOUT_FILENO, folder.path());
    });
}

}  // namespace systole::cli
