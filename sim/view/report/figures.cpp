#include "sim/view/report/figures.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <deque>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hw/machine/main_units.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/sections.h"

namespace systole::report {
namespace {

/// The list, and what its rows say.
namespace list {

using Part = Figure::Part;
using enum Figure::Needed;

constexpr Figure::Row more{true, 1};
constexpr Figure::Row less{true, -1};
constexpr Figure::Row neither{true, 0};
constexpr Figure::Row less_in_all{true, -1, true};
constexpr Figure::Row less_cycles_in_all{true, -1, true, true};
constexpr Figure::Row more_cycles{true, 1, false, true};
constexpr Figure::Row less_cycles{true, -1, false, true};
constexpr Figure::Row no_row;
constexpr Figure::Line no_line;
constexpr Figure::Card no_card;

constexpr Figure::Line line(Part part, std::string_view label = {}, std::string_view remark = {}) {
    return {part, label, remark};
}
constexpr Figure::Card card(std::string_view title, std::string_view remark = {}) {
    return {title, remark};
}
constexpr Figure::Card first_card(std::string_view title, std::string_view remark = {}) {
    return {title, remark, true};
}

/// A figure that is a section of its own.
constexpr Figure computed(Figure figure, decltype(Figure::compute) compute) {
    figure.compute = compute;
    return figure;
}

Json seconds_per_batch(const Basis& basis) {
    if (!basis.no_speed.empty()) return nullptr;
    return or_null(ratio(basis.seconds, static_cast<double>(basis.batches)));
}

Json latency(const Basis& basis) {
    return basis.latency ? Json(milliseconds * basis.latency->latency) : Json(nullptr);
}

Json largest_latency(const Basis& basis) {
    return basis.latency ? Json(milliseconds * basis.latency->largest) : Json(nullptr);
}

constexpr Figure of_all_machines[] = {
    {"inferences", "inferences", "", "count", "of the run; 0 of a program that states none", Always, neither},
    {"cycles", "cycles", "cycles", "count", "of the whole run, in the core's clock", Always,
     less_cycles_in_all, no_line, card("Cycles")},
    {"time", "seconds", "s", "s", "of the whole run: its cycles at that clock", Always, less_in_all,
     line(Part::Time)},
    {"throughput", "inferences_per_second", "1/s", "inf/s", "`inferences` over `seconds`", OrNull, more,
     line(Part::Speed), first_card("Throughput")},
    computed({"latency", "latency_ms", "ms", "s",
              "from the first byte of a batch's input into the chip to the last byte of its results out of "
              "it, in this run; mean of the batches",
              No, less, line(Part::Speed), first_card("Latency")},
             latency),
    computed({"latency, largest", "latency_max_ms", "ms", "s", "the longest of these latencies", No, less},
             largest_latency),
    {"latency, cold", "call.cold_ms", "ms", "s",
     "of the first call of a machine with tiles, which also brings the parameters that stay in the memory",
     No, less, line(Part::Speed, "  cold", "the first call, with the parameters that stay"),
     first_card("Cold latency", "of the first call, with the parameters that stay in the memory")},
    {"latency, warm", "call.warm_ms", "ms", "s",
     "of a later call, which finds these parameters there; mean of all but the first", No, less,
     line(Part::Speed, "  warm"), first_card("Warm latency", "of a later call, mean")},
    computed({"a batch every", "seconds_per_batch", "s", "s",
              "the run's time over its batches, of which the last may have fewer inferences; `interval_ms` "
              "is the same in ms",
              OrNull, less, line(Part::Speed), first_card("A batch every")},
             seconds_per_batch),
    {"performance", "tops.achieved", "10¹²/s", "OPS",
     "operations a second that the network needs on the chip; a multiply-accumulate counts two", OrNull, more,
     line(Part::Speed), card("Performance")},
    {"peak", "tops.peak", "10¹²/s", "OPS", "operations a second of all cells in every cycle", Always,
     neither},
    {"MAC/weight byte", "roofline.macs_per_weight_byte", "1/byte", "ratio",
     "the multiply-accumulates that are needed over the weight bytes fetched", No, no_row, line(Part::Speed)},
    {"ratio", "bounds.ratio", "", "ratio",
     "the cycles over the sum, over the layers, of each layer's largest bound besides `macs`", No, no_row,
     line(Part::Bounds, "", "cycles over layers' largest bounds"), card("Cycles over bounds")},
    {"fill", "bounds.fill", "", "ratio", "`macs` over `array`: the share of the array that the mapping fills",
     No, no_row, line(Part::Bounds)},
    {"weight bytes", "traffic.weight_bytes", "bytes", "bytes", "from weight memory, in the whole run", No,
     less_in_all},
    {"parameter bytes", "traffic.parameter_bytes", "bytes", "bytes",
     "from the host into wide memory, in the whole run", No, less_in_all},
    {"streamed bytes", "traffic.streamed_bytes", "bytes", "bytes",
     "parameters from the host to the ring, in the whole run", No, less_in_all},
    {"unified buffer, peak", "memory.over_time.unified_buffer_bytes", "bytes", "bytes",
     "the most bytes in use at a time, where the run noted its occupancy", No, neither},
    {"unified buffer, rows ever used", "memory.unified_buffer_peak_bytes", "bytes", "bytes",
     "of all rows that were written at least once at any time", No, neither, no_line, no_card,
     "memory.over_time.unified_buffer_bytes"},
    {"narrow memory, bytes ever used", "memory.narrow_memory_peak_bytes", "bytes", "bytes",
     "of a tile: from address 0 to the last byte that an instruction used at any time", No, neither},
    {"step of the chip", "feeding.chip_ms", "ms", "s",
     "of the chip for a step, without its host: in a training `training.seconds_a_step`, else "
     "`seconds_per_batch`",
     No, less, line(Part::Feeding, "chip", "computes a step")},
    {"step of the host", "feeding.host_ms", "ms", "s",
     "that the host takes for the input of a step, while the chip computes the one before", No, less,
     line(Part::Feeding, "host")},
    {"wait for input", "feeding.wait_ms", "ms", "s",
     "in which the chip idles in each step, as the host takes longer: 0 where it does not", No, less,
     line(Part::Feeding, "wait", "of the chip in each step, as the host takes longer")},
    {"gap a step", "feeding.gap_ms", "ms", "s",
     "in which the chip waits behind a loop of steps, over these steps", No, less,
     line(Part::Feeding, "gap", "behind a loop, over its steps")},
    {"step with host", "feeding.step_ms", "ms", "s", "from step to step: the chip's step, wait and gap", No,
     less, line(Part::Feeding, "a step", "from one to the next, with wait and gap"),
     card("A step with its host", "with the waits for input and between loops")},
    {"input share", "feeding.input_share", "", "share", "the wait over the chip's step and the wait", No,
     less, line(Part::Feeding, "", "the wait over chip and wait"),
     card("Waits for input", "of the time outside of gaps")},
    {"busy share", "feeding.busy_share", "", "share",
     "the chip's step and the wait over the step with host: all but the gaps", No, more,
     line(Part::Feeding, "", "of a step, all but the gap")},
    {"examples a second", "feeding.examples_per_second", "1/s", "ratio",
     "`feeding.examples` over the step with host", No, more, line(Part::Feeding, "", "with wait and gap"),
     card("Examples a second", "with the waits for input and between loops")},
    {"energy an inference", "energy.joules_per_inference", "J", "J", "`joules` over `inferences`", OrNull,
     less, line(Part::Energy, "an inference"), card("Energy", "an inference, {}, static share included")},
    {"energy, cold call", "call.cold_joules", "J", "J", "of chip, link, host and board in the first call", No,
     less, line(Part::Energy, "a cold call", "the first, with the parameters that stay")},
    {"energy, warm call", "call.warm_joules", "J", "J",
     "of a later call: `static_watts` for as long as it takes, and its share of all other events but the "
     "parameters' way to the chip",
     No, less, line(Part::Energy, "a warm call", "the mean of the others"),
     card("Energy of a warm call", "chip, link, host and board")},
    {"energy", "energy.joules", "J", "J", "of chip and weight memory in the whole run, static share included",
     OrNull, no_row, no_line, card("Energy", "the run, {}, static share included"),
     "energy.joules_per_inference"},
    {"power", "energy.watts", "W", "W", "the mean of the run: `joules` over `seconds`", OrNull, neither,
     line(Part::Energy), card("Power")},
    {"accuracy", "accuracy", "", "share", "the share of the `predictions` that are the labels", OrNull, more,
     no_line, card("Accuracy")}};

/// Texts of figures that are put together.
std::string_view kept(std::string text) {
    static std::deque<std::string> texts;
    return texts.emplace_back(std::move(text));
}

/// The classes of the main units' cycles, as shares of all cycles.
std::vector<Figure> of_classes() {
    std::vector<Figure> figures;
    for (const machine::NamedMainUnit& main : machine::main_units()) {
        const std::vector<machine::CycleClass>& classes = main.unit.classes;
        for (const machine::CycleClass& each : classes) {
            const bool is_work = &each == &classes.front();
            std::string title = each.name;
            title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
            figures.push_back({each.name, kept(each.counter + " / cycles"), "cycles", "share",
                               kept("in which " + each.meaning), No, is_work ? more_cycles : less_cycles,
                               line(Part::MainUnit), is_work ? card(kept(title)) : no_card});
        }
    }
    return figures;
}

const std::vector<Figure>& all() {
    static const std::vector<Figure> figures = [] {
        std::vector<Figure> together(std::begin(of_all_machines), std::end(of_all_machines));
        const auto behind =
            std::ranges::find(together, Part::Bounds, [](const Figure& each) { return each.line.part; });
        const std::vector<Figure> classes = of_classes();
        together.insert(behind, classes.begin(), classes.end());
        return together;
    }();
    return figures;
}

}  // namespace list

bool is_text(const Json& object, const char* key, std::string_view text) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() && found->get_ref<const std::string&>() == text;
}

const Json* element(const Json& list, std::string_view name) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error == std::errc() && end == name.data() + name.size()) {
        return index < list.size() ? &list[index] : nullptr;
    }
    for (const Json& each : list) {
        if (each.is_object() && (is_text(each, "name", name) || is_text(each, "baseline", name))) {
            return &each;
        }
    }
    return nullptr;
}

/// The arrays whose cycles a report sums.
double arrays_of(const Json& report) {
    return number_at(report, "arrays").value_or(1.0);
}

}  // namespace

std::string_view Figure::whole() const {
    constexpr std::string_view over = " / ";
    const std::size_t at = path.find(over);
    return at == std::string_view::npos ? std::string_view() : path.substr(at + over.size());
}

double Figure::factor() const {
    if (unit == "ms" && format == "s") return 1e-3;
    return format == "OPS" ? 1e12 : 1.0;
}

std::span<const Figure> figures() {
    return list::all();
}

const Figure& figure_named(std::string_view key) {
    const auto found =
        std::ranges::find_if(list::all(), [key](const Figure& each) { return each.key() == key; });
    if (found == list::all().end()) throw std::logic_error("there is no figure " + std::string(key));
    return *found;
}

std::vector<Figure> figures_of(Figure::Part part) {
    std::vector<Figure> chosen;
    std::ranges::copy_if(list::all(), std::back_inserter(chosen),
                         [part](const Figure& figure) { return figure.line.part == part; });
    return chosen;
}

const Json* find_path(const Json& report, std::string_view dotted) {
    const Json* place = &report;
    while (true) {
        if (place->is_object()) {  // a key may itself have dots
            const auto whole = place->find(std::string(dotted));
            if (whole != place->end()) return &*whole;
        }
        if (place->is_null()) return place;  // what the run does not have, with all its parts
        const std::string_view name = dotted.substr(0, dotted.find('.'));
        if (place->is_object()) {
            const auto found = place->find(std::string(name));
            place = found == place->end() ? nullptr : &*found;
        } else {
            place = place->is_array() ? element(*place, name) : nullptr;
        }
        if (place == nullptr || name.size() == dotted.size()) return place;
        dotted.remove_prefix(name.size() + 1);
    }
}

void place_at(Json& report, std::string_view dotted, Json value) {
    std::string pointer = "/" + std::string(dotted);
    std::ranges::replace(pointer, '.', '/');
    report[Json::json_pointer(pointer)] = std::move(value);
}

std::optional<double> number_at(const Json& report, std::string_view path) {
    const Json* const found = find_path(report, path);
    if (found == nullptr) return std::nullopt;
    if (found->is_number()) return found->get<double>();
    const auto is_number = [](const Json& each) { return each.is_number(); };
    if (!found->is_array() || found->empty() || !std::all_of(found->begin(), found->end(), is_number)) {
        return std::nullopt;
    }
    return std::max_element(found->begin(), found->end())->get<double>();
}

std::optional<double> value_of(const Figure& figure, const Json& report) {
    const std::optional<double> value = number_at(report, figure.key());
    if (!value) return std::nullopt;
    if (figure.whole().empty()) return *value * figure.factor();
    const double whole = number_at(report, figure.whole()).value_or(0.0) * arrays_of(report);
    return whole > 0.0 ? std::optional(*value / whole) : std::nullopt;
}

std::string figure_text(std::optional<double> value, std::string_view format) {
    if (!value) return "-";
    const auto whole = [&] { return static_cast<std::uint64_t>(std::llround(*value)); };
    if (format == "count") return grouped(whole());
    if (format == "bytes") return bytes(whole());
    if (format == "share") return percent(value);
    if (format == "ratio") return amount(value, "");
    if (format == "times") return rough_times(value);
    if (format == "inf/s") return inference_rate(value);
    return si(value, format);
}

Json cards_json() {
    Json cards = Json::array();
    for (const bool is_first : {true, false}) {
        for (const Figure& figure : figures()) {
            if (figure.card.title.empty() || figure.card.is_first != is_first) continue;
            cards.push_back({{"title", figure.card.title},
                             {"key", figure.key()},
                             {"whole", figure.whole()},
                             {"factor", figure.factor()},
                             {"format", figure.format},
                             {"instead_of", figure.instead_of},
                             {"remark", figure.card.remark}});
        }
    }
    return cards;
}

}  // namespace systole::report
