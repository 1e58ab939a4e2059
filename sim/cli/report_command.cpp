#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hw/base/whole_file.h"
#include "sim/cli/command.h"
#include "sim/cli/output_options.h"
#include "sim/view/page/page.h"
#include "sim/view/report/report_file.h"

namespace systole::cli {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
    std::vector<std::string> reports;
    std::string out;
    OutputOptions print;

    void operator()() const {
        std::vector<page::NamedReport> read;
        read.reserve(reports.size());
        for (const std::string& each : reports) read.push_back(page::read_report(each));
        const fs::path page = out.empty() ? beside(reports.front()) : fs::path(out);
        write_file(page, page::to_html(read));
        if (print.quiet) return;
        if (print.json) return print_json({{"page", page.string()}, {"reports", reports}});
        fmt::print("Page in {}\n", page.string());
    }

private:
    static fs::path beside(const fs::path& file_or_folder) {
        std::error_code error;
        const bool is_folder = fs::is_directory(file_or_folder, error);
        return report::page_path(is_folder ? file_or_folder : file_or_folder.parent_path());
    }
};

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("report", "Make a page of charts from report.json");
    const auto report = std::make_shared<ReportCommand>();
    CLI::Option* reports =
        command->add_option("REPORT", report->reports, "folders with a report.json, or such files")
            ->required()
            ->type_name("");
    context.note(reports, {.files = true});
    command->add_option("--out", report->out, "file of the page; default: report.html beside the first")
        ->type_name("FILE.html");
    add_quiet_option(*command, report->print)
        ->excludes(add_json_option(*command, report->print, "the page's path as JSON"));
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim run mnist_cnn --out a --quiet\n"
        "  sim run mnist_cnn --set machine.weight_fifo.depth_tiles=8 --out b --quiet\n"
        "  sim report a\n"
        "  sim report a b --out both.html\n\n"
        "The page is one file that opens from disk and loads nothing. Several reports\n"
        "stand side by side, with what differs between them; docs/report.md explains the\n"
        "charts.");
    command->callback([report] { (*report)(); });
}

}  // namespace systole::cli
