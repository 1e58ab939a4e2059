#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/whole_file.h"
#include "compiler/compile.h"
#include "compiler/frontend/door/operators_page.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/output_options.h"
#include "sim/cli/schema/documents.h"

namespace systole::cli {
namespace {

/// With this line begins the part of the page of operators that tests/judges/onnx_node_tests.py measures.
constexpr std::string_view measured_heading = "\n## ONNX's own node tests\n";

/// The measured part of a page that is there already: writing the page again keeps it.
std::string measured_part(const std::string& page) {
    std::ifstream file(page);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::size_t begin = text.find(measured_heading);
    return begin == std::string::npos ? std::string() : text.substr(begin);
}

struct SchemaCommand {
    std::string name;
    std::string page;
    std::string operators_page;
    OutputOptions print;
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        if (name.empty() && page.empty() && operators_page.empty()) {
            throw machine::ConfigError("sim schema needs a kind of file, or --page FILE.md for all of them");
        }
        if (!page.empty()) write_file(page, schema::reference_page());
        if (!operators_page.empty()) {
            std::vector<frontend::PlacesColumn> families;
            for (const compiler::FamilyPlaces& family : compiler::operator_places())
                families.push_back({family.name, family.place_of});
            write_file(operators_page, frontend::operators_page(families) + measured_part(operators_page));
        }
        if (name.empty()) return;
        const schema::Document& document = schema::document(name);
        if (print.json) return print_json(schema::json_schema(document));
        fmt::print("{}", schema::reference_text(document, screen->out()));
    }
};

}  // namespace

void add_schema_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("schema", "List the keys of configuration files");
    const auto schema = std::make_shared<SchemaCommand>();
    schema->screen = &context.screen;
    std::vector<std::string> names;
    names.reserve(schema::documents().size());
    for (const schema::Document& document : schema::documents()) names.push_back(document.name);
    CLI::Option* name =
        command->add_option("KIND", schema->name, fmt::format("{}", fmt::join(names, ", ")))->type_name("");
    context.only(name, names);
    command->add_option("--page", schema->page, "write the reference of all kinds as a page")
        ->type_name("FILE.md");
    command->add_option("--operators", schema->operators_page, "write the page of all operators of networks")
        ->type_name("FILE.md");
    add_json_option(*command, schema->print, "JSON Schema, for editors,")->needs(name);
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim schema machine\n"
        "  sim schema run --json > run.schema.json\n"
        "  sim schema --page docs/configuration.md\n\n"
        "The list and the reader of these files use the same declarations.");
    command->callback([schema] { (*schema)(); });
}

}  // namespace systole::cli
