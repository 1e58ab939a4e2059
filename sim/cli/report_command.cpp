#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/view/page/layers_csv.h"
#include "sim/view/page/page.h"
#include "sim/view/page/side_by_side.h"
#include "sim/view/report/report_file.h"

namespace systole::cli {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
    std::vector<std::string> reports;
    std::string out;
    std::optional<std::string> against;
    bool text = false;
    bool csv = false;
    bool layers = false;
    bool all_layers = false;
    OutputOptions print;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        const std::vector<page::NamedReport> read = read_reports();
        const std::size_t reference = against ? page::find_report(read, *against) : 0;
        if (csv && layers) {
            print_data(page::layers_to_csv(read));
        } else if (csv) {
            print_data(page::to_csv(page::side_by_side(read, reference)));
        } else if (text) {
            print_for_people(screen->out(),
                             page::to_text(page::side_by_side(read, reference), screen->out(), all_layers));
        } else {
            write_page(read, reference);
        }
    }

private:
    /// What a shell's dir/* names besides reports is left out, and named; without any report that is an
    /// error.
    std::vector<page::NamedReport> read_reports() const {
        if (reports.size() == 1) return {page::read_report(reports.front())};
        std::vector<page::NamedReport> read;
        std::vector<std::string> others;
        for (const std::string& each : reports) {
            if (const auto reason = page::no_report_reason(each)) {
                others.push_back(fmt::format("{} ({})", each, *reason));
            } else {
                read.push_back(page::read_report(each));
            }
        }
        const std::string listed = fmt::format("{}", fmt::join(others, ", "));
        if (read.empty()) throw machine::ConfigError("no report among " + listed);
        if (!others.empty()) print_warning(screen->error(), "left out, as no reports: " + listed);
        return read;
    }

    void write_page(const std::vector<page::NamedReport>& read, std::size_t reference) const {
        const fs::path page = out.empty() ? beside(read.front().name) : fs::path(out);
        write_file(page, page::to_html(read, reference));
        if (print.quiet) return;
        if (print.json) {
            std::vector<std::string> names;
            names.reserve(read.size());
            for (const page::NamedReport& each : read) names.push_back(each.name);
            return print_json({{"page", page.string()}, {"reports", names}});
        }
        print_text({}, "Page in {}\n", page.string());
    }

    static fs::path beside(const fs::path& file_or_folder) {
        std::error_code error;
        const bool is_folder = fs::is_directory(file_or_folder, error);
        return report::page_path(is_folder ? file_or_folder : file_or_folder.parent_path());
    }
};

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("report", "Make a page of reports, or compare them as text");
    const auto report = std::make_shared<ReportCommand>();
    report->screen = &context.screen;
    CLI::Option* reports =
        command->add_option("REPORT", report->reports, "folders with a report.json, or such files")
            ->required()
            ->type_name("");
    context.note(reports, {.files = true});
    CLI::Option* out =
        command->add_option("--out", report->out, "file of the page; default: report.html beside the first")
            ->type_name("FILE.html");
    command
        ->add_option("--against", report->against,
                     "the report to which differences are shown (the first): its name, or its number")
        ->type_name("NAME");
    CLI::Option* text = command->add_flag("--text", report->text, "print tables instead of making a page");
    CLI::Option* csv = command->add_flag("--csv", report->csv, "print a line of CSV for each report instead");
    command->add_flag("--layers", report->layers, "with --csv: a line for each layer of each report instead")
        ->needs(csv);
    add_all_option(*command, report->all_layers)->needs(text);
    CLI::Option* quiet = add_quiet_option(*command, report->print);
    CLI::Option* json = add_json_option(*command, report->print, "the page's path as JSON")->excludes(quiet);
    text->excludes(csv);
    for (CLI::Option* const printed : {text, csv}) printed->excludes(out)->excludes(quiet)->excludes(json);
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim run mnist_cnn --out a --quiet\n"
        "  sim run mnist_cnn --set machine.weight_fifo.depth_tiles=8 --out b --quiet\n"
        "  sim report a\n"
        "  sim report a b --out both.html\n"
        "  sim report a b --text --against b\n\n"
        "The page is one file that opens from disk and loads nothing. Several reports\n"
        "stand side by side, with what differs between them; docs/report.md explains the\n"
        "charts, and the columns of CSV.");
    command->callback([report] { (*report)(); });
}

}  // namespace systole::cli
