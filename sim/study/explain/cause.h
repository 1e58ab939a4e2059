#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"
#include "sim/study/explain/facts.h"

namespace systole::explain {

/// A cause, as its unit describes it (machine::CycleCause). It must outlive the object.
class Cause {
public:
    explicit Cause(const machine::CycleCause& described) : described_(&described) {}
    const machine::CycleCause& operator*() const { return *described_; }
    const machine::CycleCause* operator->() const { return described_; }
    bool operator==(const Cause& other) const { return described_ == other.described_; }

private:
    const machine::CycleCause* described_;
};

/// The causes with at least a twentieth of the cycles, those with the most cycles first; equals in the order
/// of the units' descriptions. The first is the main cause. Active cycles are a cause only as the main one.
/// Facts without cycles have no cause. The units must outlive the causes.
std::vector<Cause> causes_of(const Facts& facts, const std::vector<machine::UnitDescription>& units);

/// The cycles of a cause. The cycles of all causes sum to all cycles: active cycles are divided between used
/// and unused cells in proportion to the cells.
std::uint64_t cycles_of(Cause cause, const Facts& facts);

/// The run or layer whose cycles a sentence explains.
struct Subject {
    std::string_view kind;  ///< of the layer: "convolution"; empty where it is none
};

/// A cause of the cycles, as text: "Weight-bound: 888 of 1,344 cycles per tile wait for ...".
std::string sentence(const Facts& facts, Cause cause, const Subject& subject,
                     const machine::MatrixUnitConfig& array);

/// "4x the weight bandwidth would run it at 3.1x the speed (the run at 2.2x)." A factor below 1 is called
/// slower. An absent speedup means that no cycle is left. `run` is absent if the subject is the run.
std::string consequence(std::string_view change, std::optional<double> speedup, std::optional<double> run);

}  // namespace systole::explain
