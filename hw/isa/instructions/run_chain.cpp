#include "hw/isa/instructions/run_chain.h"

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"

namespace systole::isa {

void RunChain::fields(FieldVisitor& visitor) {
    visitor.number({.name = "index", .bytes = 2, .positional = true}, chain);
    visitor.number({.name = "rows", .bytes = 4, .minimum = 1}, rows);
    visitor.number({.name = "columns", .bytes = 4, .minimum = 1}, columns);
    constexpr std::array<std::string_view, most_results> result_names{"dst", "dst2"};
    for (std::size_t i = 0; i < most_results; ++i) {
        visitor.number({.name = result_names[i], .bytes = 3, .absent = 0}, results[i]);
    }
    constexpr std::array<std::string_view, most_sources> source_names{"a", "b", "c", "d"};
    for (std::size_t i = 0; i < most_sources; ++i) {
        visitor.number({.name = source_names[i], .bytes = 3, .absent = 0}, sources[i]);
    }
}

Footprint RunChain::footprint(const Registers& /*registers*/, const Geometry& /*geometry*/) const {
    return {};  // that of the program's chain: see hw/isa/footprint.h
}

}  // namespace systole::isa
