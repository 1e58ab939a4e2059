#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/isa/program_file.h"
#include "sim/cli/command.h"
#include "sim/report/report_file.h"
#include "sim/run/run.h"

namespace systole::cli {
namespace {

struct Files {
    std::string input;
    std::string output;
};

}  // namespace

void add_asm_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("asm", "Assemble a text to a program (.tpu)");
    const auto files = std::make_shared<Files>();
    command->add_option("FILE.asm", files->input, "assembly text")->required()->type_name("");
    command->add_option("-o,--output", files->output, "the program file")->required()->type_name("FILE.tpu");
    command->footer(
        "Examples:\n"
        "  sim asm docs/micro_benchmarks/tile_cost.asm -o tile_cost.tpu\n"
        "  sim run tile_cost.tpu --machine tpu_v1\n\n"
        "sim run takes the text, too. docs/isa.md describes the language.");
    command->callback([files] {
        const isa::Program program = run::read_program(files->input);
        isa::write_program(program, std::filesystem::path(files->output));
    });
}

void add_disasm_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("disasm", "Print a program (.tpu) as assembly");
    const auto files = std::make_shared<Files>();
    command->add_option("FILE.tpu", files->input, "the program")->required()->type_name("");
    command->add_option("-o,--output", files->output, "write the text to a file instead")
        ->type_name("FILE.asm");
    command->footer(
        "Example:\n"
        "  sim disasm mnist_cnn.tpu -o mnist_cnn.asm\n\n"
        "The text assembles to the same program.");
    command->callback([files] {
        const std::string text = isa::disassemble(run::read_program(files->input));
        if (files->output.empty()) {
            fmt::print("{}", text);
        } else {
            report::write_file(files->output, text);
        }
    });
}

}  // namespace systole::cli
