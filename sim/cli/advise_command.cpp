#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "compiler/ir/graph.h"
#include "hw/machine/config_error.h"
#include "hw/machine/machine_config.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_options.h"
#include "sim/cli/study_folder.h"
#include "sim/cli/study_progress.h"
#include "sim/run/execute/executor.h"
#include "sim/run/network.h"
#include "sim/run/path_finder.h"
#include "sim/run/run_config.h"
#include "sim/study/advise/advice_page.h"
#include "sim/study/advise/advise.h"
#include "sim/study/explain/what_if.h"
#include "sim/study/sweep/answer.h"
#include "sim/study/sweep/database.h"
#include "sim/study/sweep/run_points.h"
#include "sim/study/sweep/stored_record.h"
#include "sim/study/sweep/study.h"
#include "sim/study/sweep/study_page.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {
namespace {

/// The batches to try if the user names none.
constexpr std::array<std::uint32_t, 10> batches_of_core{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

/// Whether the file is an HLO module, by its name.
bool is_program(const std::filesystem::path& file) {
    return file.extension() == ".hlo" || (file.extension() == ".gz" && file.stem().extension() == ".hlo");
}

struct AdviseCommand {
    RunOptions options;
    OutputOptions print;
    std::vector<std::string> programs;  ///< besides the first one: the same step with other batches
    std::vector<std::uint32_t> batches;
    std::vector<std::uint32_t> sizes;
    std::string cpu{run::default_host};
    std::string out;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        const run::RunConfig config = options.config();
        const machine::MachineConfig machine = run::read_machine(config, run::PathFinder(config.file));
        advise::Question question{.config = config,
                                  .batches = batches,
                                  .sizes = sizes.empty() ? std::vector<std::uint32_t>{1, 2, 4} : sizes,
                                  .cpu = cpu,
                                  .has_tiles = machine.family == machine::Family::EdgeTpu,
                                  .cores = machine.cores()};
        add_network(machine, question);
        if (batches.empty()) {
            for (const std::uint32_t of_core : batches_of_core) {
                question.batches.push_back(of_core * machine.cores());
            }
        }
        const advise::Advice advice = run_study(question);
        if (!out.empty()) write(advice);
        if (print.json) return print_json(advise::to_json(advice));
        print_text(screen->out(), "{}\n", tables::to_text(advise::to_table(advice), screen->out()));
        for (const std::string& sentence : advice.sentences) {
            print_text({}, "{}\n", terminal::wrapped(sentence, screen->out().width()));
        }
        if (!out.empty()) {
            print_text(
                {}, "\nAdvice in {0}/advice.json, its page in {0}/advice.html, its study in {0}/study.html\n",
                out);
        }
    }

private:
    /// What the network itself says: detours, and whether its shapes have the batch. Then its programs are
    /// the question, unless the user names batches.
    void add_network(const machine::MachineConfig& machine, advise::Question& question) const {
        const run::RunConfig& config = question.config;
        if (machine.family != machine::Family::TensorCore || config.model.empty()) {
            if (programs.empty()) return;
            throw machine::ConfigError(fmt::format(
                "{}: several programs are given; machines with tensor cores run programs, {} has none",
                programs.front(), machine.name));
        }
        const run::RunSpec spec = run::make_spec(explain::for_cycles(config));
        const ir::Graph graph = run::read_model(spec).graph;
        question.detours = graph.detours;
        // An inference of a program is a call of it. A step is one of all replicas.
        const bool takes_batches =
            !is_program(spec.network->path.text) && graph.state.empty() && graph.replicas == 1;
        question.is_program = !takes_batches;
        if (!programs.empty()) check_programs(config, graph, takes_batches);
        if (takes_batches || !batches.empty()) return;
        if (!sizes.empty() && sizes != std::vector<std::uint32_t>{1}) {
            throw machine::ConfigError(fmt::format(
                "--sizes: {} has its sizes in its shapes; there are no larger images", config.model));
        }
        question.programs = {config.model};
        question.programs.insert(question.programs.end(), programs.begin(), programs.end());
    }

    void check_programs(const run::RunConfig& config, const ir::Graph& graph, bool takes_batches) const {
        if (takes_batches) {
            throw machine::ConfigError(
                fmt::format("{}: another program is given; {} takes any batch: --batches names some",
                            programs.front(), graph.name));
        }
        if (!batches.empty()) {
            throw machine::ConfigError(fmt::format(
                "--batches: several programs are given, which have their batches in their shapes"));
        }
        if (config.state.empty()) {
            throw machine::ConfigError(
                "several programs are given: --state FILE says which input takes the examples, and so what "
                "the "
                "batch of each is");
        }
    }

    advise::Advice run_study(const advise::Question& question) const {
        const sweep::Study study(advise::study_of(question));
        const StudyFolder folder(out);
        sweep::Database database = sweep::Database::open(folder.path() / "advice.sqlite");
        sweep::plan(study, database);
        database.free_points_of_the_dead();
        database.retry_failed();
        ProgressLine progress(ProgressLine::Log::EachMinute);
        sweep::run_points(study, database, {.progress = [&](const sweep::Progress& now) {
                              progress.show([&] { return progress_text(now, false); });
                          }});
        std::vector<run::RunOutcome> outcomes;
        for (const sweep::StoredPoint& point : database.points()) {
            run::RunOutcome& outcome = outcomes.emplace_back();
            if (point.state == "done") {
                outcome.record = sweep::StoredRecord::of_point(database, point.number).read();
            } else {
                outcome.error = point.error;
            }
        }
        advise::Advice advice = advise::advise(question, outcomes);
        if (!out.empty()) {
            write_file(folder.path() / "study.html", sweep::to_html(sweep::read_answer(database), database));
        }
        return advice;
    }

    void write(const advise::Advice& advice) const {
        const std::filesystem::path folder = out;
        // Paths in sentences may be no UTF-8.
        constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
        write_file(folder / "advice.json", advise::to_json(advice).dump(2, ' ', false, replace) + "\n");
        write_file(folder / "advice.html", advise::to_html(advice));
    }
};

}  // namespace

void add_advise_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("advise", "Say which batch and image size fill the machine");
    const auto advise = std::make_shared<AdviseCommand>();
    advise->screen = &context.screen;
    add_model_options(*command, context, advise->options,
                      "run file, whose keys options override; or a network");
    CLI::Option* more = command->add_option("PROGRAM", advise->programs,
                                            "after a program (.hlo): the same step with other batches");
    more->type_name("");
    context.note(more, {.files = true});
    command->add_option("--batches", advise->batches, "batches to try (1 to 512 for each core, powers of 2)")
        ->type_name("N,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::PositiveNumber);
    command->add_option("--sizes", advise->sizes, "images so many times as wide and high (1,2,4)")
        ->type_name("N,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::PositiveNumber);
    CLI::Option* cpu =
        command->add_option("--cpu", advise->cpu, "baseline to compare with")->type_name("FILE");
    context.note(cpu, {.presets = "baselines", .files = true});
    command->add_option("--out", advise->out, "folder for advice.json and its page, advice.html")
        ->type_name("DIR");
    add_json_option(*command, advise->print, "the advice");
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim advise mnist_cnn\n"
        "  sim advise --machine tpu_v1 --model mlp0 --batches 1,8,64,200 --sizes 1\n"
        "  sim advise models/mnist_cnn/training/step_8x8.hlo \\\n"
        "      models/mnist_cnn/training/step_8x64.hlo --machine tpu_v2_8 \\\n"
        "      --state models/mnist_cnn/training/state.json\n\n"
        "Each line of the table is a simulation of four batches, without values. A machine\n"
        "with tiles takes one image at a time: --batches does not count. A program (.hlo) has\n"
        "its batch in its shapes: several programs are several batches. The CPU's speed is\n"
        "that of its model (docs/baselines.md), for one die.");
    command->callback([advise] { (*advise)(); });
}

}  // namespace systole::cli
