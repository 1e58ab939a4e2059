#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/run_options.h"
#include "sim/cli/sign_of_life.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/record.h"
#include "sim/run/run_config.h"
#include "sim/study/explain/explain.h"
#include "sim/view/arrays/output_files.h"
#include "sim/view/page/page.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_file.h"
#include "sim/view/terminal/layout.h"
#include "sim/view/trace/old_traces.h"
#include "sim/view/trace/tracer.h"

namespace systole::cli {
namespace {

/// Writes the traces that a run asks for, while it runs, and prints its warnings.
class TraceFiles final : public run::Observer {
public:
    /// `sign`, if any, makes room for warnings.
    TraceFiles(const trace::TraceConfig& config, std::filesystem::path folder, terminal::Look messages,
               SignOfLife* sign)
        : config_(config), folder_(std::move(folder)), messages_(messages), sign_(sign) {}

    void warn(const std::string& message) override {
        if (sign_ != nullptr) sign_->erase();
        print_warning(messages_, message);
    }

    void begin(const isa::Program& program, const machine::MachineConfig& machine) override {
        tracer_.emplace(config_, program, machine, folder_);
    }
    hw::TraceSink* trace(std::size_t core) override { return tracer_->sink(core); }
    hw::RegisterSink* registers() override { return tracer_->registers(); }
    void finish(const run::RunRecord& record) override {
        trace::Afterwards known;
        if (tracer_->has_timeline()) {
            known.power = report::power_over_time(record);
            known.memories = trace::occupied_tracks(record);
        }
        tracer_->finish(record.cycles, known);
    }
    /// Closes the files; they end at the failure. No report belongs to them.
    void failed() noexcept override {
        if (!tracer_) return;
        const bool has_traces = tracer_->sink() != nullptr;
        tracer_.reset();
        if (!has_traces) return;
        trace::remove_old_traces(config_, folder_);
        report::remove_report(folder_);
    }

private:
    const trace::TraceConfig& config_;
    const std::filesystem::path folder_;
    const terminal::Look messages_;
    SignOfLife* const sign_;
    std::optional<trace::Tracer> tracer_;
};

struct RunCommand {
    RunOptions options;
    OutputOptions print;
    std::vector<std::string> show;
    bool all_layers = false;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        if (shows("accuracy")) check_accuracy(options.config());
        const run::RunConfig config = asked_for().config();
        if (shows("buffers") && config.print.empty()) {
            throw machine::ConfigError("--show buffers needs a buffer: give --print BUFFER");
        }
        for (const std::string& folder : {config.out, config.outputs, config.float_outputs}) {
            if (!folder.empty()) report::make_folder(folder);  // an error in the path shows before the run
        }
        // First, because the simulations for an explanation run in forks of this process, which must not
        // have begun a simulation of its own.
        std::optional<report::Explanations> why;
        std::optional<SignOfLife> sign;
        if (!print.quiet) sign.emplace(SignOfLife::explaining);
        if (!config.out.empty() && config.explain) why = explained(config);
        if (sign) sign->begin(SignOfLife::compiling);
        const run::RunRecord record = simulate(config, sign ? &*sign : nullptr);
        sign.reset();
        const report::Json report = report::make_report(record, {.explanations = why ? &*why : nullptr});
        std::vector<arrays::WrittenOutput> outputs;
        const auto write_outputs = [&](const std::vector<run::OutputArray>& values,
                                       const std::string& folder) {
            if (folder.empty()) return;
            for (auto& output : arrays::write_outputs(values, folder)) outputs.push_back(std::move(output));
        };
        write_outputs(record.answers.output_arrays, config.outputs);
        write_outputs(record.answers.float_output_arrays, config.float_outputs);
        if (!config.out.empty()) write(report, config);
        if (print.json) {
            print_data(report::to_json_text(report) + "\n");
        } else if (!print.quiet) {
            print_for_people(screen->out(), report::to_text(report, record, show, screen->out(), all_layers));
            if (!config.out.empty()) print_files(config);
            for (const auto& [output, file, contents] : outputs) {
                print_text({}, "Output \"{}\" in {}: {}\n", terminal::fitted(output, 60), file.string(),
                           contents);
            }
        }
    }

private:
    bool shows(std::string_view part) const {
        return std::find(show.begin(), show.end(), part) != show.end();
    }

    /// Throws ConfigError for a run without layers to compare. Names the option, which is what the user
    /// typed.
    static void check_accuracy(const run::RunConfig& config) {
        if (!config.program.empty()) {
            throw machine::ConfigError(
                fmt::format("--show accuracy needs a model; {} is a program, which has no float network",
                            config.program));
        }
        if (config.timing_only) {
            throw machine::ConfigError(
                "--show accuracy compares values; a timing-only run (--timing-only) has none");
        }
    }

    /// The options, with the parts of the report that --show names switched on.
    RunOptions asked_for() const {
        RunOptions asked = options;
        if (shows("instructions")) asked.instructions = true;
        if (shows("accuracy")) asked.accuracy_by_layer = true;
        if (shows("registers") && asked.registers.empty()) asked.registers = "all";
        return asked;
    }

    /// Every file that the run wrote.
    static void print_files(const run::RunConfig& config) {
        print_text({}, "Report in {}, its page in {}\n", report::report_path(config.out).string(),
                   report::page_path(config.out).string());
        for (const auto& [kind, file] : trace::files_of(config.trace)) {
            print_text({}, "Trace \"{}\" in {}\n", kind, (std::filesystem::path(config.out) / file).string());
        }
    }

    /// Report and page get their names together, or the folder keeps none: traces of this run are there.
    static void write(const report::Json& report, const run::RunConfig& config) {
        const std::string& folder = config.out;
        const std::vector<page::NamedReport> shown{{.name = folder, .report = report}};
        try {
            WholeFile json(report::report_path(folder));
            WholeFile page(report::page_path(folder));
            json.write(report::to_json_text(report) + "\n");
            page.write(page::to_html(shown));
            trace::remove_old_traces(config.trace, folder);
            json.commit();
            page.commit();
        } catch (const OutputError&) {
            if (!config.trace.kinds.empty()) report::remove_report(folder);
            throw;
        }
    }

    /// Absent if the run fails: `simulate` then reports the error and writes the traces up to it.
    static std::optional<report::Explanations> explained(run::RunConfig config) {
        config.accuracy_by_layer = false;  // an explanation is of cycles
        try {
            return explain::explain(config);
        } catch (const explain::CannotRun&) {
            return std::nullopt;
        }
    }

    run::RunRecord simulate(const run::RunConfig& config, SignOfLife* sign) const {
        TraceFiles traces(config.trace, config.out, screen->error(), sign);
        const run::RunSpec spec = run::make_spec(config);
        return run::run(spec, &traces, sign != nullptr ? sign->progress() : run::Progress());
    }
};

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("run", "Run a network, or a program, on a machine");
    const auto run = std::make_shared<RunCommand>();
    run->screen = &context.screen;
    add_model_options(*command, context, run->options,
                      "run file, whose keys options override; or a network, or a program");
    add_comparison_options(*command, context, run->options);
    add_run_only_options(*command, context, run->options);
    CLI::Option* quiet = add_quiet_option(*command, run->print);
    CLI::Option* json = add_json_option(*command, run->print, "report.json")->excludes(quiet);
    const auto sections = report::section_names();
    CLI::Option* show =
        command->add_option("--show", run->show, "print only these parts of the text; see below")
            ->type_name("PART,...")
            ->excludes(quiet)
            ->excludes(json);
    add_all_option(*command, run->all_layers)->excludes(quiet)->excludes(json);
    context.only(show, {sections.begin(), sections.end()}, true);
    add_color_option(*command, context);
    command->footer(
        std::string("Examples:\n"
                    "  sim configs/runs/mnist_cnn.json\n"
                    "  sim run mnist_cnn --set machine.clock_mhz=1050 --batch 512 --out results/\n"
                    "  sim run --machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 \\\n"
                    "      --input models/mnist_cnn/digits-images.idx3-ubyte.gz --batch 64\n"
                    "  sim run docs/micro_benchmarks/fifo_runs_dry.asm --machine tpu_v1 \\\n"
                    "      --instructions\n\n"
                    "A file that ends in .tpu, .asm or .s is a program; docs/isa.md describes them.\n"
                    "Relative paths are looked for in the current folder, then in the run file's\n"
                    "folder and in those above it. --input drops the labels of the run file,\n"
                    "--model its program, --program its model, batch and calibration.\n\n") +
        terminal::wrapped(fmt::format("Parts of the text: {}.", fmt::join(sections, ", ")), 80));
    command->callback([run] { (*run)(); });
}

}  // namespace systole::cli
