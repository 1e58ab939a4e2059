#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interruption.h"
#include "base/json_text.h"
#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_options.h"
#include "sim/cli/study_answer.h"
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

/// Points failed, or are not done.
constexpr int some_unfinished = 1;

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

bool is_study_file(const std::filesystem::path& file) {
    if (file.extension() != ".json" || !std::filesystem::exists(file)) return false;
    const nlohmann::json object = machine::read_json_object(file);
    const auto schema = object.find("schema");
    return schema != object.end() && schema->is_string() &&
           schema->get_ref<const std::string&>().starts_with("sim.study/");
}

/// The page of the study, and study.html, which leads to the page of the folder's last study.
void write_page(const std::filesystem::path& page, const std::string& html) {
    write_file(page, html);
    const std::filesystem::path last = page.parent_path() / "study.html";
    if (last == page) return;
    const std::filesystem::path part = last.string() + ".part";
    std::error_code error;
    std::filesystem::remove(part, error);
    std::filesystem::create_symlink(page.filename(), part, error);
    if (!error) std::filesystem::rename(part, last, error);
    if (error) write_file(last, html);  // a file system without links
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
        const StudyAnswer answers(answer, print, *context);
        sqlite::tell_waiting([this](const std::string& file) {
            print_warning(context->screen.error(),
                          fmt::format("{}: another process is writing it; waiting for its end", file));
        });
        if (std::filesystem::path(run.file).extension() == ".sqlite") {
            check_only_asks();
            sweep::Database database = sweep::Database::open_to_read(run.file);
            const sweep::Answer all = sweep::read_answer(database);
            answers.check(all, true);
            if (all.count("failed") > 0) context->exit_code = some_unfinished;
            return answers.tell(all, database, run.file, false);
        }
        check_place();
        auto [definition, selected] = defined();
        const sweep::Study planned(std::move(definition));
        const std::vector<std::uint64_t> numbers =
            sweep::select(planned, {.values = selected, .points = points});
        answers.check(sweep::answer_without_rows(planned.description()), !out.empty());
        const StudyFolder folder(out);
        const std::filesystem::path file = folder.path() / (planned.name() + ".sqlite");
        const bool keeps_plan = no_run && std::filesystem::exists(file);
        sweep::Database database = sweep::Database::open(file);
        if (keeps_plan) {
            check_is_planned(planned, database, file.string());
        } else {
            if (!out.empty()) warn_of_other_study(planned, database, file.string());
            put_points(planned, database);
        }
        const bool is_part = numbers.size() < planned.points().size();
        database.select(numbers);
        database.free_points_of_the_dead();
        if (retry_failed) database.retry_failed();
        const int signal = no_run ? 0 : run_points(planned, database);
        const sweep::Answer answer_of_numbers = sweep::read_answer(database);
        if (!out.empty()) {
            if (is_part) database.select_all();  // the page has all points that are done
            write_page(study_page_of(file),
                       sweep::to_html(is_part ? sweep::read_answer(database) : answer_of_numbers, database));
        }
        const std::uint64_t unfinished =
            answer_of_numbers.count("pending") + answer_of_numbers.count("running");
        if (answer_of_numbers.count("failed") > 0 || (unfinished > 0 && !no_run)) {
            context->exit_code = some_unfinished;
        }
        answers.tell(answer_of_numbers, database, out.empty() ? std::filesystem::path() : file, !out.empty());
        if (signal != 0) tell_interruption(answer_of_numbers, signal);
    }

private:
    static void check_is_planned(const sweep::Study& planned, sweep::Database& database,
                                 const std::string& file) {
        if (sweep::is_planned(planned, database)) return;
        throw ConfigError(fmt::format(
            "--no-run: {0}: its results are of other points, metrics or files; sim sweep {0} shows them",
            file));
    }

    /// A study of the same name with other keys is probably another question.
    void warn_of_other_study(const sweep::Study& planned, sweep::Database& database,
                             const std::string& file) const {
        const std::vector<std::string> keys = sweep::keys_of_study(database);
        if (keys.empty() || keys == planned.keys()) return;
        print_warning(
            context->screen.error(),
            fmt::format("{}: it had a study of {}; its table has this study's points now (--name gives a "
                        "study a file of its own)",
                        file, fmt::join(keys, ", ")));
    }

    /// Checks the study's points and puts them into its file of results.
    void put_points(const sweep::Study& planned, sweep::Database& database) const {
        ProgressLine progress(ProgressLine::Log::EachMinute);
        sweep::plan(planned, database, [&](std::size_t done) {
            if (print.quiet) return;
            progress.show([&] {
                return fmt::format("checking {} of {} points", report::grouped(done),
                                   report::grouped(planned.points().size()));
            });
        });
    }

    void tell_interruption(const sweep::Answer& all, int signal) const {
        const std::uint64_t finished = all.count("done") + all.count("failed");
        print_warning(context->screen.error(),
                      fmt::format("interrupted: {} of {} points are finished{}", report::grouped(finished),
                                  report::grouped(all.rows.size()),
                                  out.empty() ? "" : "; the same command goes on with the others"));
        context->exit_code = 128 + signal;
    }

    /// The study, and the values of its axes that the command line keeps.
    std::pair<sweep::StudyDefinition, std::vector<run::Setting>> defined() const {
        RunOptions base = run;
        sweep::StudyDefinition definition;
        const run::PathFinder paths({});
        const bool is_file = std::filesystem::is_regular_file(run.file);
        const bool is_study = is_file ? is_study_file(run.file) : paths.knows(run.file, "studies");
        if (!run.file.empty() && is_study) {
            definition = sweep::read_study(is_file ? std::filesystem::path(run.file)
                                                   : paths.find(run.file, "studies"));
            base.file.clear();
        } else if (!run.file.empty() && !is_file && !names_network(run.file) && !names_program(run.file) &&
                   !paths.knows(run.file, "runs")) {
            std::set<std::string> names = paths.names("studies");
            names.merge(paths.names("runs"));
            const std::vector<std::string> known(names.begin(), names.end());
            throw ConfigError(fmt::format("{}: there is no such file, study or run{}", run.file,
                                          suggestion(run.file, known)));
        } else {
            definition.run_file = base.run_file();
            const std::string named = !base.file.empty() ? base.file : base.model;
            definition.name = named.empty() ? "study" : std::filesystem::path(named).stem().string();
        }
        if (!study.name.empty()) {
            sweep::check_name(study.name, "--name");
            definition.name = study.name;
        }
        std::set<std::string> keys_of_axes;
        for (const std::string& text : study.axes) {
            sweep::Axis axis = sweep::axis_of(text);
            if (!keys_of_axes.insert(axis.key).second) {
                throw ConfigError(fmt::format(
                    "--axis {}: {} has an axis twice; one --axis takes all its values", text, axis.key));
            }
            replace_axis(definition, std::move(axis));
        }
        for (const std::string& keys : study.zip) {
            definition.zip.push_back(sweep::parse_zip(keys, "--zip " + keys));
        }
        for (const std::string& text : study.derive) {
            sweep::NamedFormula given = sweep::parse_formula(text, "--derive");
            std::erase_if(definition.derive,
                          [&](const sweep::NamedFormula& known) { return known.first == given.first; });
            definition.derive.push_back(std::move(given));
        }
        for (const std::string& text : study.where) definition.where.push_back(text);
        for (const std::string& text : study.metrics) {
            auto [name, formula] = sweep::parse_formula(text, "--metric");
            std::erase_if(definition.metrics,
                          [&metric = name](const sweep::Metric& known) { return known.name == metric; });
            definition.metrics.push_back({.name = std::move(name), .formula = std::move(formula)});
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

    static void replace_axis(sweep::StudyDefinition& definition, sweep::Axis axis) {
        const auto known = std::ranges::find(definition.axes, axis.key, &sweep::Axis::key);
        if (known == definition.axes.end()) {
            definition.axes.push_back(std::move(axis));
        } else {
            *known = std::move(axis);
        }
        std::erase_if(definition.derive, [&](const sweep::NamedFormula& formula) {
            return std::ranges::find(definition.axes, formula.first, &sweep::Axis::key) !=
                   definition.axes.end();
        });
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
            no_run || place.is_cluster() || place.workers > 0 || place.job.nodes > 0 || place.chunks > 0) {
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
        ProgressLine progress(ProgressLine::Log::EachMinute);
        const auto show = [&](const sweep::Progress& now) {
            if (print.quiet) return;
            progress.show([&] { return progress_text(now, interruption.signal() != 0); });
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
            place.slurm ? sweep::slurm(job)
                        : sweep::launcher(place.launcher, at_once, std::max<std::size_t>(place.workers, 1));
        constexpr std::size_t usual_chunks = 64;
        sweep::run_on_cluster(
            planned, database, *scheduler,
            {.folder = std::filesystem::path(out) / (planned.name() + ".chunks"),
             .most_chunks = place.chunks > 0 ? place.chunks : usual_chunks,
             .progress = show,
             .stop = stop,
             .warn = [&](const std::string& message) { print_warning(context->screen.error(), message); }});
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
    command.add_option("--sample", study.sample, "N random points instead of all")
        ->type_name("N")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{sweep::most_points}));
    command.add_option("--seed", study.seed, "of the sample's random numbers (1)")
        ->type_name("SEED")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--name", study.name, "name of the study and of its file of results")
        ->type_name("NAME");
}

void add_place_options(CLI::App& command, PlaceOptions& place) {
    command
        .add_option(
            "--workers", place.workers,
            "processes that run points (one for each core; with --slurm and --launcher, of each task: 1)")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    command.add_flag("--slurm", place.slurm,
                     "run the points as a job array of Slurm; --out is seen by all nodes");
    command.add_option("--partition", place.job.partition, "of the job array")->type_name("P");
    command.add_option("--time", place.job.time, "limit of a task, as sbatch takes it")->type_name("TIME");
    command
        .add_option("--launcher", place.launcher,
                    "run COMMAND for each part of the study: {chunk} in it runs it")
        ->type_name("COMMAND");
    command.add_option("--nodes", place.job.nodes, "tasks, or commands, at once")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    command.add_option("--array-size", place.chunks, "tasks of the array, or commands (64)")
        ->type_name("M")
        ->check(CLI::PositiveNumber);
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
    command->add_flag("--no-run", sweep->no_run, "check the points, and show what has been run");
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
