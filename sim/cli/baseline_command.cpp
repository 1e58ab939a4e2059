#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/whole_file.h"
#include "compiler/frontend/door/read_network.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/run/path_finder.h"
#include "sim/study/measure/measure.h"
#include "sim/view/report/baseline_text.h"

namespace systole::cli {
namespace {

struct BaselineCommand {
    std::string file;
    bool measure = false;
    std::string model = "mnist_cnn";
    std::uint32_t batch = 256;
    double minimum_seconds = 0.5;
    std::string out;
    OutputOptions print;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        if (measure == !file.empty()) {
            throw machine::ConfigError("sim baseline needs a baseline file, or --measure for this computer");
        }
        if (measure) {
            measure_this_computer();
        } else {
            const auto baseline = baselines::read_baseline(run::PathFinder({}).find(file, "baselines"));
            show(baseline, [&] { return baselines::to_text(baseline, screen->out()); });
        }
    }

private:
    void measure_this_computer() const {
        const ir::Graph graph = frontend::read_network(run::PathFinder({}).find(model, "models"));
        std::optional<WholeFile> written;
        if (!out.empty()) written.emplace(out);  // an error in the path shows before the measurement
        const measure::Measurement measurement =
            measure::measure(graph, batch, {.minimum_seconds = minimum_seconds});
        const baselines::Baseline baseline = measure::to_baseline(measurement);
        show(baseline, [&] { return measure::to_text(measurement, screen->out()); });
        if (!written) return;
        written->write(baselines::to_json(baseline).dump(2) + "\n");
        written->commit();
        if (!print.quiet && !print.json) print_text({}, "Baseline in {}\n", out);
    }

    template <class MakeText>
    void show(const baselines::Baseline& baseline, const MakeText& make_text) const {
        if (print.quiet) return;
        if (print.json) return print_json(baselines::to_json(baseline));
        fmt::print("{}", make_text());
    }
};

}  // namespace

void add_baseline_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("baseline", "Show a baseline, or measure this computer as one");
    const auto baseline = std::make_shared<BaselineCommand>();
    baseline->screen = &context.screen;
    auto* file = command->add_option("FILE", baseline->file, "baseline file, or a name in configs/baselines")
                     ->type_name("");
    auto* measure = command->add_flag("--measure", baseline->measure, "measure this computer");
    context.note(file, {.presets = "baselines", .files = true});
    measure->excludes(file);
    CLI::Option* model =
        command->add_option("--model", baseline->model, "network whose matrix products to run (mnist_cnn)")
            ->type_name("FILE")
            ->needs(measure);
    context.note(model, {.presets = "models", .files = true});
    command->add_option("--batch", baseline->batch, "inferences that go through it together (256)")
        ->type_name("N")
        ->check(CLI::Range(1U, 1U << 20U))
        ->needs(measure);
    command
        ->add_option("--min-time", baseline->minimum_seconds, "repeat each measurement for this time (0.5)")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0))
        ->needs(measure);
    command->add_option("--out", baseline->out, "write a baseline file that a run can name")
        ->type_name("FILE.json")
        ->needs(measure);
    add_quiet_option(*command, baseline->print)
        ->excludes(add_json_option(*command, baseline->print, "the baseline as JSON"));
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim baseline k80\n"
        "  sim baseline --measure --batch 256 --out here.json\n"
        "  sim run mnist_cnn --baseline haswell_e5_2699_v3 here.json\n\n"
        "--measure runs the network's matrix products in fp32 and int8 with oneDNN on all\n"
        "cores (convolutions as im2col), a large product for the peak, and a read of\n"
        "memory. It reads package energy if the system allows it. Figures are medians;\n"
        "other work on the computer lowers them.");
    command->callback([baseline] { (*baseline)(); });
}

}  // namespace systole::cli
