#include <fmt/format.h>

#include <memory>

#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/run_options.h"
#include "sim/cli/sign_of_life.h"
#include "sim/run/execute/run.h"
#include "sim/run/run_config.h"
#include "sim/study/explain/explain.h"
#include "sim/study/explain/what_if.h"
#include "sim/view/report/explanations.h"

namespace systole::cli {
namespace {

struct ExplainCommand {
    RunOptions options;
    OutputOptions print;
    bool all_layers = false;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        const report::Explanations why = explained(options.config());
        if (print.json) return print_json(report::to_json(why));
        print_for_people(screen->out(), report::to_text(why, screen->out(), all_layers));
    }

private:
    static report::Explanations explained(const run::RunConfig& config) {
        const SignOfLife sign(SignOfLife::explaining);
        try {
            return explain::explain(config);
        } catch (const explain::CannotRun&) {
            run::run(run::make_spec(explain::for_cycles(config)));  // throws the error itself
            throw;
        }
    }
};

}  // namespace

void add_explain_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("explain", "Explain the cycles of each layer");
    const auto explain = std::make_shared<ExplainCommand>();
    explain->screen = &context.screen;
    add_model_options(*command, context, explain->options,
                      "run file, whose keys options override; or a network, or a program");
    add_all_option(*command, explain->all_layers)
        ->excludes(add_json_option(*command, explain->print, "the explanations"));
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim explain mnist_cnn\n"
        "  sim explain mnist_cnn --batch 8 --set machine.weight_fifo.depth_tiles=1\n"
        "  sim explain docs/micro_benchmarks/fifo_runs_dry.asm --machine tpu_v1\n\n"
        "Each sentence is computed from counters of the run; the speedup of a change is\n"
        "simulated, without values. sim run --out writes the same into report.json and\n"
        "its page.");
    command->callback([explain] { (*explain)(); });
}

}  // namespace systole::cli
