#include "sim/study/validate/evidence.h"

#include "hw/machine/config_reader.h"

namespace systole::validate {

using machine::needed;

Evidence read_evidence(const nlohmann::json& object, const std::string& file) {
    machine::ConfigReader reader(object, file);
    Evidence evidence;
    std::string name;
    reader.check_schema("sim.evidence/1");
    reader.field(needed("name", "", ""), name);
    reader.field(needed("machines", "", ""), evidence.machines);
    reader.texts(needed("tests", "", ""), evidence.tests);
    reader.texts(needed("unchanged", "", ""), evidence.unchanged);
    reader.check_keys();
    return evidence;
}

Evidence read_evidence(const std::filesystem::path& path) {
    return read_evidence(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
