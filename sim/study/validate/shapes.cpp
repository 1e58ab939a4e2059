#include "sim/study/validate/shapes.h"

#include <fmt/format.h>

#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::null_models {

// ConfigReader finds each `describe` through the type of its structure.
void describe(machine::ConfigReader& reader, Layer& layer) {
    using machine::needed;
    constexpr double most = 1e9;
    std::string name;
    std::vector<double> inputs;
    std::uint32_t columns = 0;
    std::uint32_t vectors = 0;
    reader.field(needed("name", "", ""), name);
    reader.field(needed("inputs", "", ""), inputs, {1.0, most});
    reader.field(needed("columns", "", ""), columns, {1, 1000000000});
    reader.field(needed("vectors", "", ""), vectors, {1, 1000000000});
    reader.field(needed("bits", "", ""), layer.bits, {8, 16});
    reader.check_keys();
    if (layer.bits != 8 && layer.bits != 16) reader.fail("bits", "it must be 8 or 16");
    for (const double rows : inputs) layer.inputs.push_back(static_cast<std::uint64_t>(rows));
    layer.columns = columns;
    layer.vectors = vectors;
}

void describe(machine::ConfigReader& reader, Network& network) {
    using machine::needed;
    reader.field(needed("input_bytes", "", ""), network.input_bytes, {0, 1'000'000'000});
    reader.field(needed("output_bytes", "", ""), network.output_bytes, {0, 1'000'000'000});
    reader.sections(needed("layers", "", ""), network.layers);
    reader.check_keys();
}

}  // namespace systole::null_models

namespace systole::validate {

Shapes read_shapes(const nlohmann::json& object, const std::string& file) {
    machine::ConfigReader reader(object, file);
    reader.check_schema("sim.shapes/1");
    Shapes shapes;
    for (const auto& [name, network] : object.items()) {
        if (name == "schema") continue;
        reader.section(machine::needed(name, "", ""), shapes[name]);
        if (shapes[name].layers.empty()) {
            throw machine::ConfigError(fmt::format("{}: {} has no layers", file, name));
        }
    }
    return shapes;
}

Shapes read_shapes(const std::filesystem::path& path) {
    return read_shapes(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
