#include "sim/study/validate/target.h"

#include "sim/study/validate/checked_fields.h"

namespace systole::validate {

using machine::ConfigReader;

// Outside an unnamed namespace, so that the reader finds them by the structure's type.

void describe(ConfigReader& reader, GridAxis& axis) {
    need_all(reader, not_negative, {{"from", axis.from}, {"to", axis.to}});
    need(reader, "steps", axis.steps, {1, 1000});
    if (axis.to < axis.from) reader.fail("to", "it must not be less than from");
}

void describe(ConfigReader& reader, FitGrid& grid) {
    need_section(reader, "weight_memory.bandwidth_gb_per_s", grid.weight_memory_gb_per_s);
    need_section(reader, "activation_unit.latency_ns", grid.activation_latency_ns);
    need_section(reader, "host_interface.latency_ns", grid.host_latency_ns);
    need(reader, "refinements", grid.refinements, {0, 8});
    if (!(grid.weight_memory_gb_per_s.from > 0.0)) {
        reader.fail("weight_memory.bandwidth_gb_per_s", "a bandwidth must be above 0");
    }
}

void describe(ConfigReader& reader, Targets& targets) {
    need_all(reader, not_negative,
             {{"mean_cycles_error", targets.mean_cycles_error},
              {"cycles_error", targets.cycles_error},
              {"counter_points", targets.counter_points},
              {"sensitivity_error", targets.sensitivity_error},
              {"efficiency_error", targets.efficiency_error}});
}

namespace {

struct Models {
    ByWorkload<std::string>& files;
};

void describe(ConfigReader& reader, Models& models) {
    for (std::size_t i = 0; i < workload_count; ++i) need(reader, workload_names[i], models.files[i]);
}

}  // namespace

void describe(ConfigReader& reader, Target& target) {
    need(reader, "published", target.published);
    need(reader, "machine", target.machine);
    need(reader, "cpu", target.cpu);
    need(reader, "gpu", target.gpu);
    Models models{target.models};
    need_section(reader, "models", models);
    need_section(reader, "fit", target.fit);
    need_section(reader, "targets", target.targets);
    reader.texts({"sources", "", ""}, target.sources);
}

Target read_target(const nlohmann::json& object, const std::string& file) {
    return read_document<Target>(object, file, "sim.validation/1");
}

Target read_target(const std::filesystem::path& path) {
    return read_target(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
