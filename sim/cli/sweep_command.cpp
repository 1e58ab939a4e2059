#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/base/interruption.h"
#include "hw/base/json_text.h"
#include "hw/base/whole_file.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/run_options.h"
#include "sim/cli/study_folder.h"
#include "sim/cli/study_progress.h"
#include "sim/run/execute/executor.h"
#include "sim/run/path_finder.h"
#include "sim/study/sweep/answer.h"
#include "sim/study/sweep/cluster.h"
#include "sim/study/sweep/run_points.h"
#include "sim/study/sweep/selection.h"
#include "sim/study/sweep/study_page.h"
#include "sim/view/page/page.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_file.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {
namespace {

using machine::ConfigError;

constexpr int some_failed = 1;

/// What the command line says of a study besides its run.
struct StudyOptions {
    std::vector<std::string> axes, zip, derive, where, metrics;
    std::uint64_t sample = 0;
    std::optional<std::uint64_t> seed;
    std::string name;
};

/// Where its points run.
struct PlaceOptions {
    std::size_t workers = 0;
    bool slurm = false;
    sweep::SlurmOptions job;
    std::string launcher;
    std::size_t chunks = 0;

    bool is_cluster() const { return slurm || !launcher.empty(); }
};

/// What is printed of it.
struct AnswerOptions {
    std::vector<std::string> show;
    std::string sort;
    std::size_t top = 20;
    std::vector<std::string> pivot;
    std::vector<std::string> pareto;
    std::string best;
    std::vector<std::string> subject_to;
    std::string csv;
    std::uint64_t report = 0;
};

bool is_study_file(const std::filesystem::path& file) {
    if (file.extension() != ".json") return false;
    const nlohmann::json object = machine::read_json_object(file);
    const auto schema = object.find("schema");
    return schema != object.end() && schema->is_string() &&
           schema->get_ref<const std::string&>().starts_with("sim.study/");
}

struct SweepCommand {
    RunOptions run;
    StudyOptions study;
    AnswerOptions answer;
    std::string out;
    std::string points;
    PlaceOptions place;
    bool retry_failed = false;
    bool no_run = false;
    OutputOptions print;
    Context* context = nullptr;

    void operator()() const {
        if (!answer.subject_to.empty() && answer.best.empty()) {
            throw ConfigError("--subject-to goes with --best METRIC");
        }
        if (std::filesystem::path(run.file).extension() == ".sqlite") {
            check_only_asks();
            sweep::Database database = sweep::Database::open_to_read(run.file);
            return tell(sweep::read_answer(database), database, run.file);
        }
        check_place();
        auto [definition, selected] = defined();
        const sweep::Study planned(std::move(definition));
        const std::vector<std::uint64_t> numbers =
            sweep::select(planned, {.values = selected, .points = points});
        const StudyFolder folder(out);
        const std::filesystem::path file = folder.path() / (planned.name() + ".sqlite");
        sweep::Database database = sweep::Database::open(file);
        sweep::plan(planned, database);
        database.select(numbers);
        database.free_points_of_the_dead();
        if (retry_failed) database.retry_failed();
        const int signal = no_run ? 0 : run_points(planned, database);
        const sweep::Answer all = sweep::read_answer(database);
        if (!out.empty()) write_file(page_of(file), sweep::to_html(all, database));
        tell(all, database, out.empty() ? std::string() : file.string());
        if (signal != 0) {
            const sweep::Counts counts = database.counts();
            print_warning(
                context->screen.error(),
                fmt::format("interrupted: {} of {} points are finished{}",
                            report::grouped(counts.done + counts.failed), report::grouped(counts.all()),
                            out.empty() ? "" : "; the same command goes on with the others"));
            context->exit_code = 128 + signal;
        }
    }

private:
    /// The study, and the values of its axes that the command line keeps.
    std::pair<sweep::StudyDefinition, std::vector<run::Setting>> defined() const {
        RunOptions base = run;
        sweep::StudyDefinition definition;
        const run::PathFinder paths({});
        const bool is_bare_study = paths.knows(run.file, "studies");
        if (!run.file.empty() && !names_network(run.file) && !names_program(run.file) &&
            (is_bare_study || is_study_file(paths.find(run.file, "runs")))) {
            definition = sweep::read_study(paths.find(run.file, is_bare_study ? "studies" : "runs"));
            base.file.clear();
        } else {
            definition.run_file = base.run_file();
            const std::string named = !base.file.empty() ? base.file : base.model;
            definition.name = named.empty() ? "study" : std::filesystem::path(named).stem().string();
        }
        if (!study.name.empty()) definition.name = study.name;
        for (const std::string& axis : study.axes) replace_axis(definition, sweep::axis_of(axis));
        for (const std::string& keys : study.zip) {
            definition.zip.push_back(sweep::parse_zip(keys, "--zip " + keys));
        }
        for (const std::string& text : study.derive) {
            definition.derive.push_back(sweep::parse_formula(text, "--derive"));
        }
        for (const std::string& text : study.where) definition.where.push_back(text);
        for (const std::string& text : study.metrics) {
            definition.metrics.push_back(sweep::parse_formula(text, "--metric"));
        }
        if (study.sample > 0) definition.sample = sweep::Sample{.points = study.sample};
        if (study.seed) {
            if (!definition.sample) throw ConfigError("--seed goes with a sample: give --sample N");
            definition.sample->seed = *study.seed;
        }
        if (definition.axes.empty()) {
            throw ConfigError("a study needs an axis: give a study file, or --axis KEY=VALUES");
        }
        return {definition, take_settings(definition, base.settings())};
    }

    static std::filesystem::path page_of(const std::filesystem::path& file) {
        return file.parent_path() / "study.html";
    }

    static void replace_axis(sweep::StudyDefinition& definition, sweep::Axis axis) {
        const auto known = std::ranges::find(definition.axes, axis.key, &sweep::Axis::key);
        if (known == definition.axes.end()) {
            definition.axes.push_back(std::move(axis));
        } else {
            *known = std::move(axis);
        }
        std::erase_if(definition.settings, [&](const run::Setting& setting) {
            return std::ranges::find(definition.axes, setting.key, &sweep::Axis::key) !=
                   definition.axes.end();
        });
    }

    /// Settings of the command line go over those and the formulas of the study; those of axes choose among
    /// their values.
    static std::vector<run::Setting> take_settings(sweep::StudyDefinition& definition,
                                                   const std::vector<run::Setting>& given) {
        std::vector<run::Setting> of_axes;
        for (const run::Setting& setting : given) {
            if (std::ranges::find(definition.axes, setting.key, &sweep::Axis::key) != definition.axes.end()) {
                of_axes.push_back(setting);
                continue;
            }
            std::erase_if(definition.settings,
                          [&](const run::Setting& other) { return other.key == setting.key; });
            std::erase_if(definition.derive,
                          [&](const sweep::NamedFormula& formula) { return formula.first == setting.key; });
            definition.settings.push_back(setting);
        }
        return of_axes;
    }

    /// A file of results is only read: options that would change the study say nothing there.
    void check_only_asks() const {
        RunOptions options = run;
        options.file.clear();
        const bool has_study = !study.axes.empty() || !study.zip.empty() || !study.derive.empty() ||
                               !study.where.empty() || !study.metrics.empty() || study.sample > 0 ||
                               study.seed || !study.name.empty();
        if (has_study || !options.settings().empty() || !points.empty() || !out.empty() || retry_failed ||
            place.is_cluster()) {
            throw ConfigError(fmt::format(
                "{}: results are shown as they are; options that change or run the study go with its "
                "file, and --out DIR",
                run.file));
        }
    }

    void check_place() const {
        if (place.slurm && !place.launcher.empty()) {
            throw ConfigError("--slurm and --launcher: a study runs by one of them");
        }
        const bool has_job = !place.job.partition.empty() || !place.job.time.empty();
        if (has_job && !place.slurm) throw ConfigError("--partition and --time go with --slurm");
        if ((place.job.nodes > 0 || place.chunks > 0) && !place.is_cluster()) {
            throw ConfigError("--nodes and --array-size go with --slurm or --launcher");
        }
        if (place.is_cluster() && out.empty()) {
            throw ConfigError("--slurm and --launcher need a folder that all computers see: give --out DIR");
        }
    }

    /// Returns the signal that ended it early, or 0.
    int run_points(const sweep::Study& planned, sweep::Database& database) const {
        const InterruptionRequest interruption;
        StudyProgress progress;
        const auto show = [&](const sweep::Progress& now) {
            if (!print.quiet) progress.show(now, interruption.signal() != 0);
        };
        const auto stop = [&] { return interruption.signal() != 0; };
        if (place.is_cluster()) {
            run_elsewhere(planned, database, show, stop);
        } else {
            sweep::run_points(planned, database, {.workers = place.workers, .progress = show, .stop = stop});
        }
        return interruption.signal();
    }

    void run_elsewhere(const sweep::Study& planned, sweep::Database& database,
                       const std::function<void(const sweep::Progress&)>& show,
                       const std::function<bool()>& stop) const {
        sweep::SlurmOptions job = place.job;
        job.name = planned.name();
        if (place.workers > 0) job.cpus = place.workers;
        const std::size_t at_once = place.job.nodes > 0 ? place.job.nodes : run::cores();
        const std::unique_ptr<sweep::Scheduler> scheduler =
            place.slurm ? sweep::slurm(job) : sweep::launcher(place.launcher, at_once);
        constexpr std::size_t usual_chunks = 64;
        sweep::run_on_cluster(planned, database, *scheduler,
                              {.folder = std::filesystem::path(out) / (planned.name() + ".chunks"),
                               .most_chunks = place.chunks > 0 ? place.chunks : usual_chunks,
                               .progress = show,
                               .stop = stop});
    }

    void tell(const sweep::Answer& points_of_study, sweep::Database& database,
              const std::string& file) const {
        if (points_of_study.count("failed") > 0) context->exit_code = some_failed;
        if (!answer.csv.empty()) write_file(answer.csv, sweep::to_csv(points_of_study));
        if (answer.report > 0) write_report(points_of_study, database, file);
        if (print.json) return print_json(sweep::to_json(points_of_study));
        if (print.quiet) return;
        tell_tables(points_of_study);
        tell_end(points_of_study, file);
    }

    void tell_tables(const sweep::Answer& all) const {
        const terminal::Look look = context->screen.out();
        const auto print_table = [&](const tables::Table& table) {
            fmt::print("{}\n", tables::to_text(table, look));
        };
        bool is_asked = false;
        if (!answer.pivot.empty()) {
            if (answer.pivot.size() != 2 && answer.pivot.size() != 3) {
                throw ConfigError("--pivot takes ROWS,COLUMNS or ROWS,COLUMNS,METRIC");
            }
            const std::string metric = answer.pivot.size() == 3 ? answer.pivot[2]
                                       : answer.show.empty()    ? "inferences_per_second"
                                                                : answer.show.front();
            print_table(sweep::pivot_table(all, answer.pivot[0], answer.pivot[1], metric));
            is_asked = true;
        }
        if (!answer.pareto.empty()) {
            std::vector<sweep::Goal> goals;
            for (const std::string& text : answer.pareto) {
                goals.push_back(sweep::parse_goal(all, text, "--pareto"));
            }
            print_table(sweep::pareto_table(all, goals));
            is_asked = true;
        }
        if (!answer.best.empty()) {
            tell_best(all);
            is_asked = true;
        }
        if (!is_asked) {
            print_table(
                sweep::point_table(all, {.metrics = answer.show, .sort = answer.sort, .top = answer.top}));
        }
    }

    void tell_best(const sweep::Answer& all) const {
        const sweep::Goal goal = sweep::parse_goal(all, answer.best, "--best");
        const sweep::AnswerRow* const best = sweep::best_point(all, goal, answer.subject_to);
        const sweep::Metric& metric = all.metrics[goal.metric];
        const std::string with =
            answer.subject_to.empty() ? "" : fmt::format(" with {}", fmt::join(answer.subject_to, " and "));
        if (best == nullptr) {
            fmt::print("No point{} is done and has {}.\n", with, metric.name);
            return;
        }
        const std::string value = sweep::number_text(*best->metrics[goal.metric], metric.unit);
        // A joule's number has its unit already.
        const bool has_unit = metric.unit.empty() || value.ends_with(metric.unit);
        fmt::print("The {} {}{} is {}{}: point {}, {}.\n  {}\n\n", goal.lower ? "lowest" : "highest",
                   metric.name, with, value, has_unit ? "" : " " + metric.unit, best->number,
                   sweep::settings_text(all, *best), sweep::command_of(all, *best));
    }

    void tell_end(const sweep::Answer& all, const std::string& file) const {
        const terminal::Look look = context->screen.out();
        for (const std::string& sentence : sweep::findings(all)) {
            fmt::print("{}\n", terminal::wrapped(sentence, look.width()));
        }
        const std::uint64_t done = all.count("done");
        const std::uint64_t failed = all.count("failed");
        std::string line =
            fmt::format("{} of {} points are done", report::grouped(done), report::grouped(all.rows.size()));
        if (failed > 0) line += fmt::format(", {} failed", report::grouped(failed));
        if (file.empty()) {
            fmt::print("{}; without --out they are not kept.\n", line);
        } else {
            fmt::print("{}, in {}, their page in {}.\n", line, file, page_of(file).string());
        }
        for (const std::string& failure : sweep::failures(all)) {
            fmt::print("  {}\n", terminal::wrapped(failure, look.width() - 2, 4));
        }
    }

    /// Report and page of one point, as `sim run --out` writes them.
    void write_report(const sweep::Answer& all, sweep::Database& database, const std::string& file) const {
        if (file.empty()) throw ConfigError("--report needs a folder: give --out DIR");
        const report::Report report = report::make_report(sweep::record_of(database, answer.report));
        const std::filesystem::path folder =
            std::filesystem::path(file).parent_path() / fmt::format("{}_{}", all.study, answer.report);
        report::make_folder(folder);
        const std::vector<page::NamedReport> shown{
            {.name = folder.string(), .report = report::to_json(report)}};
        write_file(report::report_path(folder), report::to_json_text(report) + "\n");
        write_file(report::page_path(folder), page::to_html(shown));
        if (!print.quiet && !print.json) {
            fmt::print("Report of point {} in {}, its page in {}\n", answer.report,
                       report::report_path(folder).string(), report::page_path(folder).string());
        }
    }
};

void add_study_options(CLI::App& command, StudyOptions& study) {
    command
        .add_option("--axis", study.axes,
                    "a key to vary: values A,B,C; powers FROM:TO:*FACTOR; steps FROM:TO:+STEP")
        ->type_name("KEY=VALUES")
        ->allow_extra_args(false);
    command.add_option("--zip", study.zip, "axes that take their values together")
        ->type_name("KEY,KEY")
        ->allow_extra_args(false);
    command.add_option("--derive", study.derive, "a key that follows from others")
        ->type_name("KEY=FORMULA")
        ->allow_extra_args(false);
    command.add_option("--where", study.where, "leave out the points for which this formula of keys is 0")
        ->type_name("FORMULA")
        ->allow_extra_args(false);
    command.add_option("--metric", study.metrics, "a further metric: a formula of paths in report.json")
        ->type_name("NAME=FORMULA")
        ->allow_extra_args(false);
    command.add_option("--sample", study.sample, "N random points instead of all")->type_name("N");
    command.add_option("--seed", study.seed, "of the sample's random numbers (1)")->type_name("SEED");
    command.add_option("--name", study.name, "name of the study and of its file of results")
        ->type_name("NAME");
}

void add_place_options(CLI::App& command, PlaceOptions& place) {
    command
        .add_option("--workers", place.workers,
                    "processes that run points (one for each core; with --slurm, of each task: 1)")
        ->type_name("N");
    command.add_flag("--slurm", place.slurm,
                     "run the points as a job array of Slurm; --out is seen by all nodes");
    command.add_option("--partition", place.job.partition, "of the job array")->type_name("P");
    command.add_option("--time", place.job.time, "limit of a task, as sbatch takes it")->type_name("TIME");
    command
        .add_option("--launcher", place.launcher,
                    "run COMMAND for each part of the study: {chunk} in it runs it")
        ->type_name("COMMAND");
    command.add_option("--nodes", place.job.nodes, "tasks, or commands, at once")->type_name("N");
    command.add_option("--array-size", place.chunks, "tasks of the array, or commands (64)")->type_name("M");
}

void add_answer_options(CLI::App& command, AnswerOptions& answer) {
    command.add_option("--show", answer.show, "the metrics that the table has")
        ->type_name("METRIC,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--sort", answer.sort, "sort the table by a metric, the best first, or by a key")
        ->type_name("NAME");
    command.add_option("--top", answer.top, "lines of the table (20); 0: all")->type_name("N");
    command.add_option("--pivot", answer.pivot, "a table of one metric over two keys")
        ->type_name("KEY,KEY,METRIC")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        .add_option("--pareto", answer.pareto,
                    "the points that no other beats in all of these; min:NAME or max:NAME says the way")
        ->type_name("METRIC,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--best", answer.best, "the best point by this metric, and its command line")
        ->type_name("METRIC");
    command.add_option("--subject-to", answer.subject_to, "of the points for which this formula holds")
        ->type_name("FORMULA")
        ->allow_extra_args(false);
    command.add_option("--csv", answer.csv, "write all points and metrics as CSV")->type_name("FILE");
    command.add_option("--report", answer.report, "write report.json and report.html of a point")
        ->type_name("POINT");
}

}  // namespace

void add_sweep_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("sweep", "Run a study: many machines, networks or batches");
    const auto sweep = std::make_shared<SweepCommand>();
    sweep->context = &context;
    add_model_options(*command, context, sweep->run,
                      "study file; a run file or network with --axis; or results (.sqlite)");
    add_comparison_options(*command, context, sweep->run);
    add_study_options(*command, sweep->study);
    command->add_option("--points", sweep->points, "run and show only these points: 3,7,10-20")
        ->type_name("N,...");
    command->add_option("--out", sweep->out, "folder for NAME.sqlite; a study in it goes on")
        ->type_name("DIR");
    add_place_options(*command, sweep->place);
    command->add_flag("--retry-failed", sweep->retry_failed, "run points that failed again");
    command->add_flag("--no-run", sweep->no_run, "only show what has been run");
    add_answer_options(*command, sweep->answer);
    CLI::Option* quiet = add_quiet_option(*command, sweep->print);
    add_json_option(*command, sweep->print, "all points and metrics")->excludes(quiet);
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim sweep array_and_batch --out results/\n"
        "  sim sweep mnist_cnn --axis batch=1:64:*4 --axis machine.clock_mhz=700,1050\n"
        "  sim sweep mnist_cnn --axis machine.matrix_unit.rows=128,256 \\\n"
        "      --axis machine.matrix_unit.columns=128,256 --pareto latency_ms,watts\n"
        "  sim sweep mnist_cnn --axis batch=1:64:*4 --best inferences_per_second \\\n"
        "      --subject-to 'latency_ms <= 1'\n\n"
        "docs/studies.md describes study files, metrics and the file of results.");
    command->callback([sweep] { (*sweep)(); });
}

}  // namespace systole::cli
