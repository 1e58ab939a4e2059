#include "sim/cli/output_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sim/cli/messages.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {
namespace {

constexpr std::size_t columns = 80;

nlohmann::ordered_json placed_operators_json(const std::vector<compiler::PlacedOperators>& placed) {
    auto json = nlohmann::ordered_json::array();
    for (const compiler::PlacedOperators& operators : placed) {
        json.push_back(
            {{"operator", operators.op}, {"count", operators.count}, {"on_chip", operators.on_chip}});
        if (!operators.on_chip) json.back()["reason"] = operators.reason;
    }
    return json;
}

/// A line for each kind of operator and place, as the log of the Edge TPU's own compiler.
std::string placed_operators_text(const std::vector<compiler::PlacedOperators>& placed) {
    std::size_t width = 0;
    for (const compiler::PlacedOperators& operators : placed) width = std::max(width, operators.op.size());
    std::string text;
    for (const compiler::PlacedOperators& operators : placed) {
        const std::string lead = fmt::format("  {:<{}} {:>4}  ", operators.op, width, operators.count);
        text += terminal::beside(lead, operators.where(), columns) + '\n';
    }
    return text;
}

}  // namespace

CLI::Option* add_quiet_option(CLI::App& command, OutputOptions& options) {
    return command.add_flag("--quiet", options.quiet, "print nothing");
}

CLI::Option* add_json_option(CLI::App& command, OutputOptions& options, const std::string& what) {
    return command.add_flag("--json", options.json, fmt::format("print {} instead of text", what));
}

CLI::Option* add_all_option(CLI::App& command, bool& all) {
    return command.add_flag("--all", all,
                            "list all layers, not only the ten with most cycles, and each that repeats");
}

void add_color_option(CLI::App& command, Context& context) {
    using terminal::colours_names;
    const std::vector<std::string> names(colours_names.begin(), colours_names.end());
    CLI::Option* option = command.add_option_function<std::string>(
        "--color",
        [&context, names](const std::string& name) {
            const auto chosen = std::find(names.begin(), names.end(), name) - names.begin();
            context.screen.colours = static_cast<terminal::Colours>(chosen);
        },
        "auto (on a terminal, unless NO_COLOR is set), always, never");
    option->type_name("WHEN");
    context.only(option, names);
}

void print_json(const nlohmann::ordered_json& json) {
    // Texts from files may contain invalid UTF-8, which is replaced.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    print_data(json.dump(2, ' ', false, replace) + "\n");
}

nlohmann::ordered_json program_json(const isa::Program& program) {
    using Json = nlohmann::ordered_json;
    Json json{{"array", {{"rows", program.geometry.rows}, {"columns", program.geometry.columns}}},
              {"instruction_count", program.instructions.size()},
              {"weight_tiles", program.tiles.size()},
              {"buffers", Json::array()}};
    for (const isa::HostBuffer& buffer : program.buffers) {
        const std::string_view kind = isa::buffer_kind_names()[static_cast<std::size_t>(buffer.kind)];
        json["buffers"].push_back({{"name", buffer.name}, {"kind", kind}, {"bytes", buffer.bytes}});
    }
    // Programs written by hand belong to no network.
    if (program.inferences > 0) {
        json["model"] = program.model;
        json["batch"] = program.batch;
        json["inferences"] = program.inferences;
        json["layers"] = Json::array();
        for (const isa::LayerInfo& layer : program.layers) {
            json["layers"].push_back({{"name", layer.name}, {"kind", layer.kind}, {"macs", layer.macs}});
        }
    }
    return json;
}

void print_summary(const std::string& file, const isa::Program& program, const OutputOptions& options,
                   const CompilerFacts& facts) {
    if (options.quiet) return;
    const auto& [batching, cut_images, placed] = facts;
    if (options.json) {
        nlohmann::ordered_json json = program_json(program);
        json["file"] = file;
        if (batching) json["batching"] = report::to_json(*batching);
        if (cut_images) json["cut_images"] = report::to_json(*cut_images);
        if (!placed.empty()) json["placed_operators"] = placed_operators_json(placed);
        return print_json(json);
    }
    print_text({}, "{}: {} instructions, {} weight tiles", file, program.instructions.size(),
               program.tiles.size());
    if (program.inferences > 0) {
        print_text({}, ", {} inferences {}", program.inferences,
                   report::batches_text(batching ? report::to_json(*batching) : nullptr, program.batch,
                                        program.inferences));
    }
    fmt::print("\n");
    if (batching && !batching->text.empty()) {
        print_text({}, "{}\n", terminal::beside("  batch: ", batching->text, columns));
    }
    if (cut_images) {
        print_text({}, "{}\n", terminal::beside("  memory: ", report::cut_images_text(*cut_images), columns));
    }
    print_text({}, "{}", placed_operators_text(placed));
}

void print_placed_operators(const CompilerFacts& facts, const OutputOptions& options) {
    if (options.quiet) return;
    if (options.json) {
        return print_json({{"placed_operators", placed_operators_json(facts.placed_operators)}});
    }
    print_text({}, "{}", placed_operators_text(facts.placed_operators));
}

}  // namespace systole::cli
