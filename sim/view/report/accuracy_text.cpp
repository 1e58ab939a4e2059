// How far each layer's numbers are from those of the network in float, for a terminal.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

class AccuracyTable : ReportLines {
public:
    AccuracyTable(const Json& layers, const terminal::Look& look) : ReportLines(look), layers_(layers) {}

    std::string write() && {
        constexpr std::size_t figures = 33;  // behind name and kind
        constexpr std::size_t kind = 18;
        const std::size_t name = columns_ - figures - kind - 4;
        line("{:<{}}{:>9}{:>9}  {:>10}", "Accuracy", name + kind + 4, "dB", "lost", "clipped");
        std::vector<std::string> names;
        for (const Json& layer : layers_) names.push_back(layer["name"].get<std::string>());
        const std::vector<std::string> shown = terminal::told_apart(names, name);
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const Json& layer = layers_[i];
            const std::uint64_t clipped = layer["clipped"];
            const std::uint64_t numbers = layer["numbers"];
            line("  {:<{}} {:<{}} {:>9}{:>9}  {:>10}", shown[i], name,
                 terminal::fitted(layer["kind"].get<std::string>(), kind), kind,
                 decibels(number_at(layer, "decibels")), decibels(number_at(layer, "lost_decibels")),
                 clipped == 0 ? std::string("-") : percent(share_of(clipped, numbers)));
        }
        note(
            2,
            "(signal to noise against the network in float; lost: from the worst input to the result; "
            "clipped: numbers outside of the tensor's range; -: no difference but that of rounding in float, "
            "or nothing but zeros in float)");
        return take();
    }

private:
    static std::string decibels(const std::optional<double>& value) {
        return value ? fmt::format("{:.1f}", *value) : "-";
    }

    const Json& layers_;
};

}  // namespace

std::string accuracy_text(const Json& layers, const terminal::Look& look) {
    return AccuracyTable(layers, look).write();
}

}  // namespace systole::report
