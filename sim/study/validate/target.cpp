#include "sim/study/validate/target.h"

#include "hw/machine/config_reader.h"

namespace systole::validate {

using machine::ConfigReader;
using machine::needed;

/// The section "models".
struct Models {
    ByWorkload<std::string>& files;
};

// ConfigReader finds each of these functions through the type of its structure.

void describe(ConfigReader& reader, GridAxis& axis) {
    reader.field(needed("from", "", ""), axis.from, {0.0, 1e12});
    reader.field(needed("to", "", ""), axis.to, {0.0, 1e12});
    reader.field(needed("steps", "", ""), axis.steps, {1, 1000});
    reader.check_keys();
    if (axis.to < axis.from) reader.fail("to", "it must not be less than from");
}

void describe(ConfigReader& reader, FitGrid& grid) {
    for (std::size_t i = 0; i < grid.axes.size(); ++i) {
        reader.section(needed(fit_parameters[i], "", ""), grid.axes[i]);
    }
    reader.field(needed("refinements", "", ""), grid.refinements, {0, 8});
    reader.check_keys();
    if (!(grid.axes[0].from > 0.0)) reader.fail(fit_parameters[0], "a bandwidth must be above 0");
}

void describe(ConfigReader& reader, Targets& targets) {
    reader.field(needed("mean_cycles_error", "", ""), targets.mean_cycles_error, {0.0, 1e12});
    reader.field(needed("cycles_error", "", ""), targets.cycles_error, {0.0, 1e12});
    reader.field(needed("counter_points", "", ""), targets.counter_points, {0.0, 1e12});
    reader.field(needed("sensitivity_error", "", ""), targets.sensitivity_error, {0.0, 1e12});
    reader.field(needed("efficiency_error", "", ""), targets.efficiency_error, {0.0, 1e12});
}

void describe(ConfigReader& reader, Models& models) {
    for (std::size_t i = 0; i < workload_count; ++i) {
        reader.field(needed(workload_names[i], "", ""), models.files[i]);
    }
}

Target read_target(const nlohmann::json& object, const std::string& file) {
    ConfigReader reader(object, file);
    Target target;
    std::string schema;
    reader.field(needed("schema", "", ""), schema);
    if (schema != "sim.validation/1") reader.fail("schema", "it must be \"sim.validation/1\"");
    reader.field(needed("name", "", ""), target.name);
    reader.field(needed("published", "", ""), target.published);
    reader.field(needed("machine", "", ""), target.machine);
    reader.field(needed("cpu", "", ""), target.cpu);
    reader.field(needed("gpu", "", ""), target.gpu);
    Models models{target.models};
    reader.section(needed("models", "", ""), models);
    reader.section(needed("fit", "", ""), target.fit);
    reader.section(needed("targets", "", ""), target.targets);
    reader.texts({"sources", "", ""}, target.sources);
    reader.check_keys();
    return target;
}

Target read_target(const std::filesystem::path& path) {
    return read_target(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
