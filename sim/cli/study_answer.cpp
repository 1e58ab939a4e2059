#include "sim/cli/study_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/cli/messages.h"
#include "sim/study/sweep/run_points.h"
#include "sim/study/sweep/stored_record.h"
#include "sim/view/page/page.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_file.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {

using machine::ConfigError;

void add_answer_options(CLI::App& command, AnswerOptions& options) {
    command.add_option("--show", options.show, "the metrics that the table has")
        ->type_name("METRIC,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--sort", options.sort, "sort the table by a metric, the best first, or by a key")
        ->type_name("NAME");
    command.add_option("--top", options.top, "lines of the table (20); 0: all")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--pivot", options.pivot, "a table of one metric over two keys")
        ->type_name("KEY,KEY,METRIC")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        .add_option("--pareto", options.pareto,
                    "the points that no other beats in all of these; min:NAME or max:NAME says the way")
        ->type_name("METRIC,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--best", options.best, "the best point by this metric, and its command line")
        ->type_name("METRIC");
    command
        .add_option("--subject-to", options.subject_to,
                    "answer only for points that satisfy this formula of metrics and keys")
        ->type_name("FORMULA")
        ->allow_extra_args(false);
    command.add_option("--csv", options.csv, "write all points and metrics as CSV; -: to stdout")
        ->type_name("FILE");
    command.add_option("--report", options.report, "write report.json and report.html of a point")
        ->type_name("POINT")
        ->check(CLI::PositiveNumber);
}

std::filesystem::path study_page_of(const std::filesystem::path& results) {
    return std::filesystem::path(results).replace_extension(".html");
}

void StudyAnswer::check(const sweep::Answer& without_rows, bool is_kept) const {
    if (options_.report > 0 && !is_kept) throw ConfigError("--report needs a folder: give --out DIR");
    sweep::subject_to(without_rows, options_.subject_to);
    if (!options_.pivot.empty()) pivot(without_rows);
    goals(without_rows);
    if (!options_.best.empty()) sweep::parse_goal(without_rows, options_.best, "--best");
    sweep::point_table(without_rows, {.metrics = options_.show, .sort = options_.sort});
}

void StudyAnswer::tell(const sweep::Answer& answer, sweep::Database& database,
                       const std::filesystem::path& file, bool page) const {
    if (options_.csv == "-") {
        print_data(sweep::to_csv(answer));
        return;
    }
    if (!options_.csv.empty()) write_file(options_.csv, sweep::to_csv(answer));
    if (options_.report > 0) write_report(answer, database, file);
    if (print_.json) return print_json(sweep::to_json(answer));
    if (print_.quiet) return;
    tell_tables(sweep::subject_to(answer, options_.subject_to));
    tell_end(answer, file, page);
}

std::vector<sweep::Goal> StudyAnswer::goals(const sweep::Answer& answer) const {
    std::vector<sweep::Goal> goals;
    for (const std::string& text : options_.pareto) {
        goals.push_back(sweep::parse_goal(answer, text, "--pareto"));
    }
    return goals;
}

sweep::Pivot StudyAnswer::pivot(const sweep::Answer& answer) const {
    const std::string usual = options_.show.empty() ? "inferences_per_second" : options_.show.front();
    return sweep::parse_pivot(answer, options_.pivot, usual);
}

void StudyAnswer::tell_tables(const sweep::Answer& answer) const {
    // A file has room for any number of columns, yet people read it; --csv is for programs.
    const terminal::Look out = context_.screen.out();
    const terminal::Look look{.colours = out.colours, .columns = out.width()};
    const auto print_table = [&](const tables::Table& table) {
        print_text(look, "{}\n", tables::to_text(table, look));
    };
    if (!options_.pivot.empty()) print_table(sweep::pivot_table(answer, pivot(answer)));
    if (!options_.pareto.empty()) print_table(sweep::pareto_table(answer, goals(answer)));
    if (!options_.best.empty()) tell_best(answer);
    const bool is_answered = !options_.pivot.empty() || !options_.pareto.empty() || !options_.best.empty() ||
                             !options_.csv.empty();
    const bool is_table_asked = !options_.sort.empty() || (!options_.show.empty() && options_.pivot.empty());
    if (is_answered && !is_table_asked) return;
    print_table(
        sweep::point_table(answer, {.metrics = options_.show, .sort = options_.sort, .top = options_.top}));
}

void StudyAnswer::tell_best(const sweep::Answer& answer) const {
    const sweep::Goal goal = sweep::parse_goal(answer, options_.best, "--best");
    const sweep::AnswerRow* const best = sweep::best_point(answer, goal);
    const sweep::Metric& metric = answer.metrics[goal.metric];
    const std::string with =
        options_.subject_to.empty() ? "" : fmt::format(" with {}", fmt::join(options_.subject_to, " and "));
    if (best == nullptr) {
        print_text({}, "No finished point{} has a value of {}.\n\n", with, metric.name);
        return;
    }
    const std::string value = sweep::number_text(*best->metrics[goal.metric], metric.unit);
    // A joule's number has its unit already.
    const bool has_unit = metric.unit.empty() || value.ends_with(metric.unit);
    const std::size_t width = context_.screen.out().width();
    const std::string sentence = fmt::format(
        "The {} {}{} is {}{}: point {}, {}.", goal.lower ? "lowest" : "highest", metric.name, with, value,
        has_unit ? "" : " " + metric.unit, best->number, sweep::settings_text(answer, *best));
    print_text({}, "{}\n  {}\n", terminal::wrapped(sentence, width), sweep::command_of(answer, *best));
    for (const std::string& edge : sweep::edge_sentences(answer, *best, goal)) {
        print_text({}, "{}\n", terminal::wrapped(edge, width));
    }
    print_text({}, "\n");
}

void StudyAnswer::tell_end(const sweep::Answer& answer, const std::filesystem::path& file, bool page) const {
    const terminal::Look look = context_.screen.out();
    for (const std::string& sentence : sweep::findings(answer)) {
        print_text({}, "{}\n", terminal::wrapped(sentence, look.width()));
    }
    const std::uint64_t done = answer.count("done");
    const std::uint64_t failed = answer.count("failed");
    std::string line =
        fmt::format("{} of {} points are done", report::grouped(done), report::grouped(answer.rows.size()));
    if (failed > 0) line += fmt::format(", {} failed", report::grouped(failed));
    if (file.empty()) {
        line += "; without --out they are not kept";
    } else {
        line += fmt::format(", in {}", file.string());
        if (page) line += fmt::format(", their page in {}", study_page_of(file).string());
    }
    print_text({}, "{}.\n", line);
    if (!options_.csv.empty()) print_text({}, "All points and metrics in {}.\n", options_.csv);
    for (const std::string& failure : sweep::failures(answer)) {
        print_text({}, "  {}\n", terminal::wrapped(failure, look.width() - 2, 4));
    }
}

/// Report and page of one point, as `sim run --out` writes them.
void StudyAnswer::write_report(const sweep::Answer& answer, sweep::Database& database,
                               const std::filesystem::path& file) const {
    const report::Json report = sweep::StoredRecord::of_point(database, options_.report).report();
    const std::filesystem::path folder =
        file.parent_path() / fmt::format("{}_{}", answer.study, options_.report);
    report::make_folder(folder);
    const std::vector<page::NamedReport> shown{{.name = folder.string(), .report = report}};
    write_file(report::report_path(folder), report::to_json_text(report) + "\n");
    write_file(report::page_path(folder), page::to_html(shown));
    if (!print_.quiet && !print_.json) {
        print_text({}, "Report of point {} in {}, its page in {}\n", options_.report,
                   report::report_path(folder).string(), report::page_path(folder).string());
    }
}

}  // namespace systole::cli
