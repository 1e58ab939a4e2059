#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_file.h"
#include "hw/machine/config_error.h"
#include "hw/timing/matrix_unit.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/cli/run_options.h"
#include "sim/run/array_program.h"
#include "sim/run/calibration.h"
#include "sim/run/execute/compiler_options.h"
#include "sim/run/images.h"
#include "sim/run/network.h"
#include "sim/run/network_input.h"
#include "sim/run/run_config.h"
#include "sim/view/report/batching.h"
#include "sim/view/report/family.h"

namespace systole::cli {
namespace {

struct CompileCommand {
    RunOptions options;
    OutputOptions print;
    std::string output;
    std::string text;        ///< "schedule", "assembly" or empty
    std::string dump_after;  ///< a pass, "all" or empty
    bool explain = false;    ///< print what the compiler chose from
    const terminal::Screen* screen = nullptr;

    void operator()() const {
        const run::RunConfig config = options.config();
        if (config.model.empty()) throw machine::ConfigError("sim compile needs a model, not a program");
        const run::RunSpec spec = run::make_spec(config);
        // The log of the mapping is worth a compilation.
        if (prints_nothing() && !compiler::places_operators(spec.machine)) {
            throw machine::ConfigError(
                "sim compile needs somewhere to put the program: give -o FILE.tpu, or --text");
        }
        const ir::Graph graph = run::read_model(spec).graph;
        run::naming_file(spec, graph, [&] { compile(spec, graph); });
    }

private:
    bool prints_nothing() const { return output.empty() && text.empty() && dump_after.empty() && !explain; }

    void compile(const run::RunSpec& spec, const ir::Graph& graph) const {
        const auto input = run::read_input(spec, graph);
        for (const std::string& warning : run::file_warnings(input)) print_warning(screen->error(), warning);
        for (const std::string& warning : run::scale_warnings(spec, &graph, {}, input)) {
            print_warning(screen->error(), warning);
        }
        const auto calibration = run::calibration_of(graph, spec, input);
        const auto observer = [&](std::string_view pass, const ir::Graph& after) { dump(pass, after); };
        if (!dump_after.empty() && output.empty() && text.empty() && !explain) {
            compiler::prepare(graph, calibration, spec.machine, observer);
            return;
        }
        compiler::Options how = run::compiler_options(spec, graph, input);
        how.explain = explain;
        how.schedule_text = text == "schedule";
        compiler::Compiled compiled = compiler::compile(graph, calibration, spec.machine, how, observer);
        run::declare_arrays(compiled.program, graph, spec.machine);
        print_data(to_text(compiled.choices) + compiled.schedule_text);
        report::Batching batching = report::make_batching(how.batches.batch, compiled.batch);
        // Its text is about the unified buffer.
        if (!report::parts_of(spec.machine.family).batching) batching.text.clear();
        const CompilerFacts facts{.batching = std::move(batching),
                                  .cut_images = compiled.cut_images,
                                  .placed_operators = compiled.placed};
        if (prints_nothing()) return print_placed_operators(facts, print);
        if (output.empty() && text != "assembly") return;
        const isa::Program& program = compiled.program;
        timing::check_formats(program, spec.machine);
        if (text == "assembly") print_data(isa::disassemble(program));
        if (output.empty()) return;
        isa::write_program(program, std::filesystem::path(output));
        if (!text.empty() || !dump_after.empty() || explain) return;
        print_summary(output, program, print, facts);
    }

    void dump(std::string_view pass, const ir::Graph& graph) const {
        if (dump_after == "all") fmt::print("# after {}\n", pass);
        if (dump_after == "all" || dump_after == pass) print_data(to_text(graph));
    }
};

}  // namespace

void add_compile_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("compile", "Compile a network to a program (.tpu)");
    const auto compile = std::make_shared<CompileCommand>();
    compile->screen = &context.screen;
    add_model_options(*command, context, compile->options,
                      "run file, whose keys options override; or a network");
    command->add_option("-o,--output", compile->output, "the program file")->type_name("FILE.tpu");
    CLI::Option* text =
        command->add_option("--text", compile->text, "print the program: as \"schedule\" or as \"assembly\"")
            ->type_name("FORM");
    context.only(text, {"schedule", "assembly"});
    CLI::Option* dump =
        command
            ->add_option("--dump-after", compile->dump_after,
                         "print the graph after a pass, or after \"all\", as text that reads back")
            ->type_name("PASS");
    std::vector<std::string> passes = compiler::pass_names();
    passes.emplace_back("all");
    context.only(dump, passes);
    command->add_flag(
        "--explain", compile->explain,
        "print the mappings that each layer could have, with their predicted cycles; of machines "
        "with tiles, where each layer runs and why");
    CLI::Option* quiet = add_quiet_option(*command, compile->print)->excludes(text);
    add_json_option(*command, compile->print, "the program's data as JSON")->excludes(quiet)->excludes(text);
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim compile configs/runs/mnist_cnn.json -o digits.tpu\n"
        "  sim compile mnist_cnn --limit 8 --batch 8 --text schedule\n"
        "  sim compile mnist_cnn --dump-after fold_padding > digits.txt\n\n"
        "On machines with tiles, it says which operators are mapped and why others are\n"
        "not, also without -o.\n\n"
        "A program is made for one array size, one batch and one number of images: as\n"
        "many as the input has, else --limit, else one batch.");
    command->callback([compile] { (*compile)(); });
}

}  // namespace systole::cli
