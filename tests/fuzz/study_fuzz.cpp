// Any bytes as a study file, and its formulas.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/study/sweep/expression.h"
#include "sim/study/sweep/study_file.h"

using namespace systole;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const sweep::StudyDefinition study = sweep::parse_study(text, "fuzz.json");
        for (const sweep::Axis& axis : study.axes) {
            if (axis.values.empty() != axis.interval.has_value()) std::abort();
        }
        for (const std::string& where : study.where) {
            const sweep::Expression formula(where);
            if (!std::isfinite(formula.value(std::vector<double>(formula.names().size(), 2.0)))) std::abort();
        }
        const sweep::Metrics metrics(study.metrics, "fuzz.json");
        if (metrics.all().size() != sweep::common_metrics().size() + study.metrics.size()) std::abort();
    } catch (const machine::ConfigError&) {
    } catch (const sweep::ExpressionError&) {
    }
    return 0;
}
