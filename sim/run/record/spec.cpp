#include "sim/run/record/spec.h"

#include "sim/run/record/bytes.h"

namespace systole::machine {

nlohmann::ordered_json record_json(const MachineConfig& machine) {
    return to_json(machine);
}

void read_record_json(const nlohmann::ordered_json& json, MachineConfig& machine) {
    machine = read_machine(nlohmann::json(json), "spec");
}

}  // namespace systole::machine

namespace systole::run {
namespace {

/// Collects the contents of all fields of a spec.
class ContentFinder {
public:
    template <class Value>
    void field(std::string_view, Value& value) {
        if constexpr (std::same_as<Value, Content>) {
            found.push_back(&value);
        } else if constexpr (fields::IsOptional<Value>::value) {
            if (value) field({}, *value);
        } else if constexpr (fields::IsVector<Value>::value) {
            for (auto& element : value) field({}, element);
        } else if constexpr (fields::Described<Value>) {
            visit_fields(*this, value);
        }
    }

    std::vector<Content*> found;
};

}  // namespace

std::string key_of(const RunSpec& spec) {
    return hash_of(compared_bytes(spec));
}

std::vector<Content*> contents_of(RunSpec& spec) {
    ContentFinder finder;
    visit_fields(finder, spec);
    return std::move(finder.found);
}

RunSpec read_spec(std::string_view bytes) {
    auto spec = from_bytes<RunSpec>(bytes);
    if (spec.schema != RunSpec::current_schema) throw RecordError("schema: it is " + spec.schema);
    return spec;
}

}  // namespace systole::run
