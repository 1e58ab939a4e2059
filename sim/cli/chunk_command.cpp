#include <cstddef>
#include <memory>
#include <string>

#include "base/interruption.h"
#include "sim/cli/command.h"
#include "sim/study/sweep/chunk.h"

namespace systole::cli {
namespace {

struct ChunkCommand {
    std::string folder;
    std::size_t number = 0;
    std::size_t workers = 1;
    Context* context = nullptr;

    void operator()() const {
        const InterruptionRequest interruption;
        sweep::run_chunk(folder, number,
                         {.workers = workers, .stop = [&] { return interruption.signal() != 0; }});
        if (interruption.signal() != 0) context->exit_code = 128 + interruption.signal();
    }
};

}  // namespace

void add_chunk_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("study-chunk", "Run a part of a study that sim sweep has written");
    command->group("");  // sim sweep --slurm and --launcher call it
    const auto chunk = std::make_shared<ChunkCommand>();
    chunk->context = &context;
    command->add_option("FOLDER", chunk->folder, "folder with chunks/NUMBER")->required()->type_name("");
    command->add_option("NUMBER", chunk->number, "of the chunk")->required()->type_name("");
    command->add_option("--workers", chunk->workers, "processes that run points")->type_name("N");
    command->callback([chunk] { (*chunk)(); });
}

}  // namespace systole::cli
