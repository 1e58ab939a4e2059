#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/sim/view/figures/baselines.h"
#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"

/// The network's answers and how right they are, the work of the host, and what a run was asked to keep:
/// docs/report.md, In report.json.
namespace systole::figures {

/// The class of each inference: its largest output, the first of equals.
inline std::vector<std::uint32_t> classes_of(const std::vector<float>& values, std::size_t inferences) {
    std::vector<std::uint32_t> classes;
    const std::size_t count = inferences == 0 ? 0 : values.size() / inferences;
    for (std::size_t i = 0; i < inferences; ++i) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * count);
        classes.push_back(static_cast<std::uint32_t>(
            std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count)) - begin));
    }
    return classes;
}

inline std::size_t alike(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] == b[i] ? 1U : 0U;
    return count;
}

/// The outputs of the network are as a run writes them into files. One gives classes if it is a vector of two
/// or more numbers, and no other output is.
inline std::vector<std::uint32_t> predictions(const Facts& facts, bool in_float = false) {
    const run::Answers& answers = facts.record().answers;
    const std::vector<run::OutputArray>& arrays =
        in_float ? answers.float_output_arrays : answers.output_arrays;
    const run::OutputArray* with_classes = nullptr;
    for (const run::OutputArray& array : arrays) {
        std::size_t longest = 0;
        std::size_t in_all = 1;
        for (std::size_t axis = 1; axis < array.shape.size(); ++axis) {
            longest = std::max<std::size_t>(longest, array.shape[axis]);
            in_all *= array.shape[axis];
        }
        if (longest != in_all || in_all < 2) continue;  // an image, or a number
        if (with_classes != nullptr) return {};
        with_classes = &array;
    }
    if (with_classes == nullptr) return {};
    return classes_of(with_classes->values, static_cast<std::size_t>(with_classes->shape.front()));
}

inline Expected share_right(const Facts& facts, bool in_float) {
    const std::vector<std::uint32_t>& labels = facts.files().labels;
    const std::vector<std::uint32_t> classes = predictions(facts, in_float);
    if (labels.empty() || classes.empty()) return nullptr;
    return static_cast<double>(alike(classes, labels)) / static_cast<double>(labels.size());
}

/// The outputs are probabilities if a softmax is the network's last layer.
inline bool gives_probabilities(const Facts& facts) {
    const Json& network = facts.files().network;
    return !network.is_null() && network.at("layers").back().at("op") == "softmax";
}

/// The five best classes of the first eight inferences, by name.
inline Expected best_classes(const Facts& facts, const Place&) {
    const std::vector<run::OutputArray>& arrays = facts.record().answers.output_arrays;
    if (facts.files().labels.empty() || arrays.empty()) return absent();
    const std::size_t count = arrays.front().shape.back();
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min<std::size_t>(8, arrays.front().shape.front()); ++i) {
        std::vector<std::size_t> order;
        for (std::size_t c = 0; c < count; ++c) order.push_back(c);
        const auto score = [&](std::size_t c) { return arrays.front().values[i * count + c]; };
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score(a) > score(b); });
        Json best = Json::array();
        for (std::size_t c = 0; c < 5; ++c) {
            best.push_back({{"class", order[c]},
                            {"name", "class " + std::string(1, static_cast<char>('a' + order[c]))},
                            {gives_probabilities(facts) ? "probability" : "score", score(order[c])}});
        }
        list.push_back(best);
    }
    return list;
}

/// Pixels in base64 (RFC 4648), as bytes.
inline std::vector<std::uint8_t> from_base64(const std::string& text) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> bytes;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char letter : text) {
        if (letter == '=') break;
        bits = (bits << 6U) | static_cast<std::uint32_t>(letters.find(letter));
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes.push_back(static_cast<std::uint8_t>(bits >> held));
    }
    return bytes;
}

inline Expected pictures(const Facts& facts, const Place&) {
    if (facts.files().labels.empty()) return absent();
    const Json& shown = facts.report().at("pictures");
    const std::vector<std::uint32_t> classes = predictions(facts);
    const run::OutputArray& scores = facts.record().answers.output_arrays.front();
    const auto shape = facts.files().picture;
    Json expected{{"height", shape[0]}, {"width", shape[1]}, {"channels", 1}, {"pictures", Json::array()}};
    std::vector<bool> is_wrong;
    for (const Json& picture : shown.at("pictures")) {
        const std::size_t i = picture.at("index");
        std::vector<std::uint8_t> pixels;
        for (std::size_t p = 0; p < std::size_t{shape[0]} * shape[1]; ++p) {
            const std::size_t n = i * shape[0] * shape[1] + p;
            pixels.push_back(static_cast<std::uint8_t>(n * n * 7 / 13 + n));
        }
        const bool has_pixels = from_base64(picture.at("pixels")) == pixels;
        expected["pictures"].push_back(
            {{"index", i},
             {"prediction", classes.at(i)},
             {"label", facts.files().labels.at(i)},
             {"pixels", has_pixels ? picture.at("pixels") : Json("other pixels")}});
        if (gives_probabilities(facts)) {
            expected["pictures"].back()["probability"] =
                scores.values.at(i * scores.shape.back() + classes.at(i));
        }
        is_wrong.push_back(classes.at(i) != facts.files().labels.at(i));
    }
    // Wrong ones come first.
    if (!std::is_sorted(is_wrong.rbegin(), is_wrong.rend())) return "wrong pictures first";
    expected["left_out"] = classes.size() - shown.at("pictures").size();
    return expected;
}

inline Expected accuracy_by_layer(const Facts& facts, const Place&) {
    if (!facts.files().run.value("accuracy_by_layer", false)) return absent();
    Json list = Json::array();
    for (const run::LayerAccuracy& layer : facts.record().answers.layer_accuracy) {
        list.push_back({{"name", layer.name},
                        {"kind", layer.kind},
                        {"decibels", or_null(layer.decibels).value},
                        {"lost_decibels", or_null(layer.lost).value},
                        {"numbers", layer.numbers},
                        {"clipped", layer.clipped}});
    }
    return list;
}

/// What a piece of work takes on the host: docs/baselines.md, The host's work.
inline double seconds_of_segment(const Facts& facts, const run::SegmentWork& segment) {
    return facts.seconds(segment.cycles);
}

inline Json host_operations_json(const Facts& facts) {
    Json list = Json::array();
    for (const run::HostWork& work : facts.record().host_work) {
        list.push_back(
            {{"kind", work.kind}, {"layer", work.layer}, {"seconds", or_null(work.seconds).value}});
    }
    for (const run::SegmentWork& segment : facts.record().host_segments) {
        std::string names;
        for (const std::string& layer : segment.layers) names += (names.empty() ? "" : ", ") + layer;
        list.push_back({{"kind", "segment"},
                        {"layer", names},
                        {"name", segment.name},
                        {"seconds", seconds_of_segment(facts, segment)},
                        {"layers", segment.layers},
                        {"share", seconds_of_segment(facts, segment) / facts.seconds()},
                        {"images", segment.images}});
    }
    return list;
}

inline Expected host_share(const Facts& facts, const Place&) {
    const auto layers = facts.host_macs();
    if (layers.empty()) return nullptr;
    Json list = Json::array();
    std::string text;  // of up to four names, all of them
    for (const auto& [name, macs] : layers) {
        text += list.empty() ? "" : list.size() + 1 == layers.size() ? " and " : ", ";
        text += name;
        list.push_back({{"name", name}, {"macs_per_inference", macs}});
    }
    double seconds = 0.0;
    for (const run::SegmentWork& segment : facts.record().host_segments) {
        if (!segment.macs.empty()) seconds += seconds_of_segment(facts, segment);
    }
    return Json{{"layers", list},
                {"text", text},
                {"macs_per_inference", facts.sum_of_host_macs()},
                {"macs_share", static_cast<double>(facts.sum_of_host_macs()) / macs_of_network(facts)},
                {"seconds", seconds},
                {"seconds_share", seconds / facts.seconds()}};
}

inline Expected instruction_times(const Facts& facts, const Place&) {
    if (!facts.files().run.value("instructions", false)) return absent();
    Json list = Json::array();
    for (const run::InstructionLine& line : facts.record().instruction_times) {
        list.push_back({{"number", line.number},
                        {"repetition", line.repetition},
                        {"unit", line.unit},
                        {"issued", or_null(line.issued).value},
                        {"begun", or_null(line.begun).value},
                        {"released", or_null(line.released).value},
                        {"complete", or_null(line.complete).value},
                        {"text", line.text}});
    }
    return list;
}

inline Expected registers(const Facts& facts, const Place&) {
    if (!facts.files().run.contains("registers")) return absent();
    Json cycles = Json::array();
    for (const run::CycleRegisters& each : facts.record().registers.cycles) {
        cycles.push_back({{"cycle", each.cycle},
                          {"activations", each.activations},
                          {"weights", each.weights},
                          {"shadow_weights", each.shadow_weights},
                          {"partial_sums", each.partial_sums}});
    }
    return Json{{"rows", facts.rows()}, {"columns", facts.columns()}, {"cycles", cycles}};
}

inline Expected buffers(const Facts& facts, const Place&) {
    if (!facts.files().run.contains("print")) return absent();
    Json list = Json::array();
    for (const run::BufferContents& buffer : facts.record().printed) {
        Json values = Json::array();
        for (const double value : buffer.values) {
            values.push_back(buffer.type == "float32" ? Json(value) : Json(std::llround(value)));
        }
        list.push_back({{"name", buffer.name}, {"type", buffer.type}, {"values", values}});
    }
    return list;
}

/// Which figures the run asks for and has not, and why, in words that name the layers of the host.
inline Expected left_out(const Facts& facts, const Place&) {
    const Json& shown = facts.report().at("left_out");
    const Json& run = facts.files().run;
    Json expected = Json::object();
    const auto say = [&](const char* key, bool is_left_out) {
        if (!is_left_out) return;
        const std::string why = shown.value(key, "");
        expected[key] = why.empty() ? Json("the reason") : Json(why);
        if (facts.chip_computes()) return;
        for (const auto& [layer, macs] : facts.host_macs()) {
            if (why.find(layer) == std::string::npos) expected[key] = "a reason that names " + layer;
        }
    };
    const bool has_speed = facts.chip_computes() && facts.inferences() > 0;
    say("speed", !facts.chip_computes());
    say("requests", (run.contains("arrivals") || run.contains("latency_limit_ms")) && !has_speed);
    say("feeding", run.contains("feeding") && !has_speed);
    say("comparison", !facts.files().baselines.empty() && !has_speed);
    return expected;
}

/// Of pixels that go in from 0 to 255: the layer after the input that multiplies them.
inline Expected pixel_scaling(const Facts& facts, const Place&) {
    if (facts.files().scaled_input.empty()) return absent();
    return Json{{{"input", facts.files().scaled_input}, {"layer", facts.files().scaling_layer}}};
}

/// The configuration has what the files say, and a default where they say nothing.
inline Expected machine_echo(const Facts& facts, const Place&) {
    const Json& shown = facts.report().at("configuration").at("machine");
    Json expected = shown;
    const auto put = [](const auto& self, Json& place, const Json& from) -> void {
        for (const auto& [key, value] : from.items()) {
            if (value.is_object() && place.contains(key) && place[key].is_object()) {
                self(self, place[key], value);
            } else if (!value.is_null()) {
                place[key] = value;
            }
        }
    };
    put(put, expected, facts.files().machine);
    return expected;
}

inline Rows rows_of_answers() {
    const auto counter = [](const Facts& facts, const Place& place) {
        return Expected(facts.count(place.key(0) + "." + place.key(1)));
    };
    return {
        {"predictions",
         [](const Facts& facts, const Place&) {
             return Expected(facts.record().answers.outputs ? predictions(facts)
                                                            : std::vector<std::uint32_t>());
         }},
        {"best_classes", best_classes},
        {"pictures", pictures},
        {"accuracy", [](const Facts& facts, const Place&) { return share_right(facts, false); }},
        {"float_reference.accuracy",
         [](const Facts& facts, const Place&) { return share_right(facts, true); }},
        {"float_reference.agreements",
         [](const Facts& facts, const Place&) -> Expected {
             if (!facts.files().run.value("float_reference", false)) return nullptr;
             return alike(predictions(facts), predictions(facts, true));
         }},
        {"accuracy_by_layer", accuracy_by_layer},
        {"host_share", host_share},
        {"host_operations",
         [](const Facts& facts, const Place&) { return Expected(host_operations_json(facts)); }},
        {"host_seconds",
         [](const Facts& facts, const Place&) {
             double sum = 0.0;
             for (const Json& each : host_operations_json(facts)) sum += each.at("seconds").get<double>();
             return Expected(sum);
         }},
        {"host", [](const Facts& facts, const Place&) { return Expected(facts.files().host.at("name")); }},
        {"host_at_least", [](const Facts& facts,
                             const Place&) { return Expected(!facts.files().host.contains("efficiency")); }},
        {"left_out", left_out},
        {"pixel_scaling", pixel_scaling},
        {"instruction_times", instruction_times},
        {"registers", registers},
        {"buffers", buffers},
        {"unfilled_buffers",
         [](const Facts& facts, const Place&) {
             Json names = Json::array();
             const bool is_filled =
                 facts.files().run.contains("random_input") || facts.files().run.value("timing_only", false);
             if (facts.files().run.contains("program") && !is_filled) names.push_back("pixels");
             return Expected(names);
         }},
        {"units.*.*", counter},
        {"configuration.machine", machine_echo},
        {"configuration.baselines",
         [](const Facts& facts, const Place&) {
             Json expected = facts.files().baselines;
             for (Json& baseline : expected) {
                 if (baseline.at("sources").empty()) baseline.erase("sources");
             }
             return Expected(expected);
         }},
        {"configuration.run",
         [](const Facts& facts, const Place&) {
             Json expected = facts.report().at("configuration").at("run");
             for (const auto& [key, value] : facts.files().run.items()) expected[key] = value;
             return Expected(expected);
         }},
    };
}

}  // namespace systole::figures
