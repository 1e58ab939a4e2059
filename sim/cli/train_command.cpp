#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interruption.h"
#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_options.h"
#include "sim/run/path_finder.h"
#include "sim/run/run_config.h"
#include "sim/run/training_file.h"
#include "sim/study/train/keras_file.h"
#include "sim/study/train/train.h"
#include "sim/view/page/page.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_file.h"
#include "sim/view/table/table.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {
namespace {

constexpr const char* checkpoint_name = "checkpoint.npz";
constexpr const char* steps_name = "steps.csv";

struct TrainCommand {
    RunOptions options;
    OutputOptions print;
    std::string state;
    std::uint32_t batch = 0;
    std::uint64_t epochs = 1;
    std::uint32_t seed = 1;
    std::uint64_t random_steps = 1;
    std::string initial;
    std::string resume;
    std::string evaluate;
    std::string keras;
    double validation_split = 0.0;
    std::string validation_input, validation_labels;
    const terminal::Screen* screen = nullptr;
    Context* context = nullptr;

    void operator()() const {
        const run::RunConfig config = options.config();
        if (!keras.empty() && config.out.empty())
            throw machine::ConfigError("--keras writes a file into the folder of --out, which is not given");
        if (!config.out.empty()) report::make_folder(config.out);
        const train::Order order = order_of(config);
        train::Training training(order);
        if (!initial.empty()) training.set_values(initial);
        if (!resume.empty()) training.go_on_from(resume);
        if (!config.timing_only) compute(training, config);
        if (!keras.empty() && !config.timing_only)
            train::write_keras_file(keras_file(config), training.state(), keras_copy(config));
        const run::RunRecord record = train::time_steps(order, training.replicas(), training.record());
        const report::Json report = report::make_report(record, {});
        if (!config.out.empty()) write(report, record, config);
        if (print.json) {
            print_data(report::to_json_text(report) + "\n");
        } else if (!print.quiet) {
            print_for_people(screen->out(), report::to_text(report, record, {}, screen->out(), false));
            if (!config.out.empty()) print_files(config, *record.training);
        }
    }

private:
    std::filesystem::path keras_file(const run::RunConfig& config) const {
        return run::PathFinder(config.file).find(keras, "models");
    }
    std::filesystem::path keras_copy(const run::RunConfig& config) const {
        return std::filesystem::path(config.out) / keras_file(config).filename();
    }

    train::Order order_of(const run::RunConfig& config) const {
        const run::PathFinder paths(config.file);
        train::Order order{.file = run::read_training(paths.find(state)),
                           .step = run::make_spec(config),
                           .forward = {},
                           .batch = batch,
                           .epochs = epochs,
                           .seed = seed,
                           .validation_split = validation_split,
                           .random_steps = random_steps};
        if (!evaluate.empty()) {
            RunOptions of_forward = options;
            of_forward.file = evaluate;
            of_forward.model.clear();
            of_forward.input.clear();
            of_forward.random_input.clear();
            if (!validation_input.empty()) of_forward.input.push_back(validation_input);
            of_forward.labels = validation_labels;
            order.forward = run::make_spec(of_forward.config());
        }
        return order;
    }

    /// The first signal ends the training behind its step, whose checkpoint is kept.
    void compute(train::Training& training, const run::RunConfig& config) const {
        const InterruptionRequest request;
        ProgressLine line(ProgressLine::Log::EachMinute);
        const auto keep = [&] {
            if (!config.out.empty())
                training.write_checkpoint(std::filesystem::path(config.out) / checkpoint_name);
        };
        while (!training.is_over() && request.signal() == 0) {
            if (!print.quiet) line.show([&] { return progress(training); });
            const std::size_t epochs_before = training.record().by_epoch.size();
            training.step();
            if (training.record().by_epoch.size() == epochs_before) continue;
            keep();
            line.erase();
            if (!print.quiet && !print.json) print_text({}, "{}\n", epoch_line(training));
        }
        keep();
        line.erase();
        if (training.is_over()) return;
        constexpr int ended_by_signal = 128;
        context->exit_code = ended_by_signal + request.signal();
        print_warning(screen->error(),
                      fmt::format("interrupted after {} of {} steps{}", training.done(), training.all_steps(),
                                  config.out.empty() ? "; without --out, nothing is kept"
                                                     : fmt::format("; --resume {}/{} goes on from there",
                                                                   config.out, checkpoint_name)));
    }

    static std::string progress(const train::Training& training) {
        std::string text = fmt::format("step {} of {}", training.done() + 1, training.all_steps());
        const run::Training& record = training.record();
        if (record.steps.empty()) return text;
        for (std::size_t i = 0; i < record.columns.size(); ++i)
            text += fmt::format(", {} {:.4f}", record.columns[i], record.steps.back()[i]);
        return text;
    }

    static std::string epoch_line(const train::Training& training) {
        const run::Training& record = training.record();
        const run::TrainedEpoch& epoch = record.by_epoch.back();
        std::string text =
            fmt::format("epoch {} of {}", training.done() / record.steps_an_epoch, record.epochs);
        for (std::size_t i = 0; i < record.columns.size(); ++i)
            text += fmt::format("  {} {:.4f}", record.columns[i], epoch.means[i]);
        if (epoch.evaluated) text += fmt::format("  evaluated {:.2f} %", 100.0 * *epoch.evaluated);
        return text;
    }

    static std::string steps_csv(const run::Training& training) {
        std::string text = "step,epoch";
        for (const std::string& column : training.columns) text += "," + tables::csv_field(column);
        text += "\n";
        // After a checkpoint, the steps before it are not among them.
        for (std::size_t i = 0; i < training.steps.size(); ++i) {
            const std::uint64_t step = training.first_step + i;
            text += fmt::format("{},{}", step + 1, step / training.steps_an_epoch + 1);
            for (const double value : training.steps[i]) text += fmt::format(",{}", value);
            text += "\n";
        }
        return text;
    }

    static void write(const report::Json& report, const run::RunRecord& record,
                      const run::RunConfig& config) {
        const std::vector<page::NamedReport> shown{{.name = config.out, .report = report}};
        write_file(report::report_path(config.out), report::to_json_text(report) + "\n");
        write_file(report::page_path(config.out), page::to_html(shown));
        if (!record.training->steps.empty())
            write_file(std::filesystem::path(config.out) / steps_name, steps_csv(*record.training));
    }

    void print_files(const run::RunConfig& config, const run::Training& training) const {
        print_text({}, "Report in {}, its page in {}\n", report::report_path(config.out).string(),
                   report::page_path(config.out).string());
        if (!training.steps.empty()) print_text({}, "Each step in {}/{}\n", config.out, steps_name);
        if (config.timing_only) return;
        print_text({}, "The state in {}/{}\n", config.out, checkpoint_name);
        if (!keras.empty()) print_text({}, "The trained network in {}\n", keras_copy(config).string());
    }
};

}  // namespace

void add_train_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("train", "Train: run a program with state again and again");
    const auto train = std::make_shared<TrainCommand>();
    train->screen = &context.screen;
    train->context = &context;
    RunOptions& options = train->options;
    CLI::Option* file =
        command->add_option("STEP", options.file, "program of a step (.hlo)")->type_name("")->required();
    CLI::Option* machine =
        command->add_option("--machine", options.machine, "machine file, or a name in configs/machines")
            ->type_name("FILE")
            ->required();
    context.note(machine, {.presets = "machines", .files = true});
    CLI::Option* state =
        command->add_option("--state", train->state, "what goes in and out of a step (docs/training.md)")
            ->type_name("FILE")
            ->required();
    command->add_option("--input", options.input, "examples: images or arrays, as sim run takes them")
        ->type_name("FILE...");
    command->add_option("--labels", options.labels, "the class of each example: IDX or NPY")
        ->type_name("FILE");
    command->add_option("--random-input", options.random_input, "made-up examples and labels from this seed")
        ->type_name("SEED")
        ->excludes("--input");
    command->add_option("--random-steps", train->random_steps, "steps of an epoch of made-up examples (1)")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000))
        ->needs("--random-input");
    command->add_option("--batch", train->batch, "examples a step: that of the program, or an error")
        ->type_name("N");
    command->add_option("--epochs", train->epochs, "how often all examples are used (1)")
        ->type_name("N")
        ->check(CLI::Range(std::uint32_t{1}, std::numeric_limits<std::uint32_t>::max()));
    command->add_option("--seed", train->seed, "of values at first and of the order of examples (1)")
        ->type_name("SEED");
    command->add_option("--initial", train->initial, "values at first: .npz, by the names of inputs")
        ->type_name("FILE");
    command->add_option("--resume", train->resume, "goes on from a checkpoint")
        ->type_name("FILE")
        ->excludes("--initial");
    CLI::Option* evaluate =
        command->add_option("--evaluate", train->evaluate, "program that answers, after each epoch (.hlo)")
            ->type_name("FILE");
    command
        ->add_option("--validation-split", train->validation_split,
                     "share of the examples, the last ones, to evaluate on instead")
        ->type_name("X")
        ->check(CLI::Range(0.0, 0.999))
        ->needs(evaluate);
    command->add_option("--validation-input", train->validation_input, "examples to evaluate on")
        ->type_name("FILE")
        ->needs(evaluate);
    command->add_option("--validation-labels", train->validation_labels, "and the class of each")
        ->type_name("FILE")
        ->needs(evaluate);
    command
        ->add_option("--keras", train->keras,
                     "Keras file of the network (.h5): --out gets a copy with the trained values")
        ->type_name("FILE");
    command->add_option("--input-scale", options.input_scale, "factor for 8-bit pixels (1/255)")
        ->type_name("X");
    command->add_flag("--timing-only", options.timing_only,
                      "cycles without values: faster, nothing is trained");
    command->add_option("--out", options.out, "folder for report, steps.csv and checkpoint.npz")
        ->type_name("DIR");
    CLI::Option* set = command->add_option("--set", options.set, "sets a key of the machine: machine.KEY")
                           ->type_name("KEY=VALUE")
                           ->allow_extra_args(false);
    context.note(file, {.files = true});
    context.note(state, {.files = true});
    context.note(set, {});
    CLI::Option* quiet = add_quiet_option(*command, train->print);
    add_json_option(*command, train->print, "report.json")->excludes(quiet);
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim train models/mnist_cnn/training/step_64.hlo --machine tpu_v2_1core \\\n"
        "      --state models/mnist_cnn/training/state.json \\\n"
        "      --input models/mnist_cnn/digits-images.idx3-ubyte.gz \\\n"
        "      --labels models/mnist_cnn/digits-labels.idx1-ubyte.gz\n"
        "  sim train models/mnist_cnn/training/step_8x64.hlo --machine tpu_v2_8 \\\n"
        "      --state models/mnist_cnn/training/state.json \\\n"
        "      --random-input 1 --random-steps 16 --epochs 5 --timing-only\n\n"
        "Examples that fill no batch are left out. Ctrl-C ends the training behind its step\n"
        "and keeps the checkpoint.");
    command->callback([train] { (*train)(); });
}

}  // namespace systole::cli
