#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/whole_file.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_file.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/run/execute/run.h"

namespace systole::cli {
namespace {

struct Files {
    std::string input;
    std::string output;
};

void print_disassembled(const isa::Program& program, const std::string& output, bool json) {
    const std::string text = isa::disassemble(program);
    if (!output.empty()) write_file(output, text);
    if (json) {
        nlohmann::ordered_json data = program_json(program);
        data["instructions"] = isa::instruction_texts(program);
        print_json(data);
    } else if (output.empty()) {
        print_data(text);
    }
}

}  // namespace

void add_asm_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("asm", "Assemble a text to a program (.tpu)");
    const auto files = std::make_shared<Files>();
    const auto print = std::make_shared<OutputOptions>();
    command->add_option("FILE.asm", files->input, "assembly text")->required()->type_name("");
    command->add_option("-o,--output", files->output, "the program file")->required()->type_name("FILE.tpu");
    add_quiet_option(*command, *print)
        ->excludes(add_json_option(*command, *print, "the program's data as JSON"));
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim asm docs/micro_benchmarks/tile_cost.asm -o tile_cost.tpu\n"
        "  sim run tile_cost.tpu --machine tpu_v1\n\n"
        "sim run takes the text, too. docs/isa.md describes the language.");
    command->callback([files, print] {
        const isa::Program program = run::read_program(files->input);
        isa::write_program(program, std::filesystem::path(files->output));
        print_summary(files->output, program, *print);
    });
}

void add_disasm_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("disasm", "Print a program (.tpu) as assembly");
    const auto files = std::make_shared<Files>();
    const auto print = std::make_shared<OutputOptions>();
    command->add_option("FILE.tpu", files->input, "the program")->required()->type_name("");
    command->add_option("-o,--output", files->output, "write the text to a file instead")
        ->type_name("FILE.asm");
    add_json_option(*command, *print, "the program's data and instructions as JSON");
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim compile mnist_cnn --limit 8 --batch 8 -o digits.tpu\n"
        "  sim disasm digits.tpu -o digits.asm\n\n"
        "The text assembles to the same program.");
    command->callback(
        [files, print] { print_disassembled(run::read_program(files->input), files->output, print->json); });
}

}  // namespace systole::cli
