#include "sim/view/report/batching.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "sim/view/report/numbers.h"

namespace systole::report {
namespace {

/// How the batch goes through the chip.
std::string way_of(const Batching& batching) {
    const machine::BatchFacts& done = batching.done;
    if (batching.slices > divide_up(done.images, done.that_fit)) {
        return fmt::format("{} images go through in {} slices, so that transfers and work overlap",
                           grouped(done.images), grouped(batching.slices));
    }
    if (batching.slices > 1 && done.grouped_layers > 0) {
        return fmt::format(
            "the unified buffer holds {} images of all layers, so {} go through in {} slices, "
            "whose first {} layers take them in groups",
            grouped(done.that_fit), grouped(done.images), grouped(batching.slices), done.grouped_layers);
    }
    if (batching.slices > 1) {
        return fmt::format("the unified buffer holds {} images, so {} go through in {} slices",
                           grouped(done.that_fit), grouped(done.images), grouped(batching.slices));
    }
    return fmt::format(
        "the unified buffer holds {} images of all layers, so the first {} layers take {} in groups",
        grouped(done.that_fit), done.grouped_layers, grouped(done.images));
}

/// What that costs, and which batch costs less.
std::string cost_of(const Batching& batching) {
    const machine::BatchFacts& done = batching.done;
    if (done.images_a_fetch == 0.0) return {};
    constexpr double noticeable = machine::BatchFacts::noticeable;
    const bool slices = batching.slices > 1;
    // Layers with several tiles a column fetch them for each part of the accumulators.
    const std::uint64_t part = slices ? done.at_a_time : done.group;
    const bool in_parts = done.images_a_fetch * noticeable < static_cast<double>(part);
    const std::string parts =
        in_parts ? fmt::format(", and in some layers each {} rows of it (half of the accumulators),",
                               grouped(done.rows_a_fetch))
                 : std::string();
    std::string again = fmt::format("; each {}{} fetches the weights again: a tile for {} images here",
                                    slices ? "slice" : "group", parts, amount(done.images_a_fetch, ""));
    if (done.fitting_batch == 0) return again;
    const std::string other = amount(done.fitting_images_a_fetch, "");
    if (done.fitting_images_a_fetch > noticeable * done.images_a_fetch) {
        return again + fmt::format(", for {} with --batch {}", other, done.fitting_batch);
    }
    if (done.fitting_images_a_fetch * noticeable < done.images_a_fetch) {
        return again + fmt::format(", for only {} with --batch {}", other, done.fitting_batch);
    }
    return again + fmt::format(", as with --batch {}, which has less latency", done.fitting_batch);
}

}  // namespace

std::string cut_images_text(const machine::CutImages& cut) {
    const auto is_one = [](std::uint64_t count) { return count == 1; };
    std::string text = "an image does not fit the unified buffer, so ";
    if (cut.cut_layers > 0) {
        text += fmt::format("{} {} computed in {} strips of lines", grouped(cut.cut_layers),
                            is_one(cut.cut_layers) ? "layer is" : "layers are", grouped(cut.strips));
    }
    if (!cut.spilled.empty()) {
        text += fmt::format("{}{} {} through host memory, {} bytes an inference",
                            cut.cut_layers > 0 ? ", and " : "", grouped(cut.spilled.size()),
                            is_one(cut.spilled.size()) ? "tensor goes" : "tensors go",
                            grouped(cut.spilled_bytes));
    }
    if (cut.cut_layers == 0 && cut.spilled.empty()) {
        text += "inputs and outputs move directly before and behind the layers that need and make them";
    }
    return text;
}

nlohmann::ordered_json to_json(const machine::CutImages& cut) {
    return {{"cut_layers", cut.cut_layers},
            {"strips", cut.strips},
            {"extra_macs", cut.extra_macs},
            {"spilled", cut.spilled},
            {"spilled_bytes", cut.spilled_bytes}};
}

Batching make_batching(std::uint64_t asked, const machine::BatchFacts& done) {
    Batching batching{
        .asked = asked, .done = done, .slices = divide_up(done.images, done.at_a_time), .text = {}};
    if (batching.slices > 1 || done.grouped_layers > 0) batching.text = way_of(batching) + cost_of(batching);
    return batching;
}

std::string batches_text(const nlohmann::ordered_json& batching, std::uint64_t batch,
                         std::uint64_t inferences) {
    if (batching.is_null()) return fmt::format("compiled for batches of {}", grouped(batch));
    if (batch > inferences) return fmt::format("in one batch; {} asked for", grouped(batch));
    const std::string cut =
        batching["slices"] > 1
            ? fmt::format(", {} at a time", grouped(batching["at_a_time"].get<std::uint64_t>()))
            : "";
    return fmt::format("in batches of {}{}", grouped(batch), cut);
}

nlohmann::ordered_json to_json(const Batching& batching) {
    const machine::BatchFacts& done = batching.done;
    return {{"asked", batching.asked},
            {"images", done.images},
            {"at_a_time", done.at_a_time},
            {"slices", batching.slices},
            {"limit", done.that_fit},
            {"limited_by", "unified_buffer"},
            {"grouped_layers", done.grouped_layers},
            {"group", done.group},
            {"images_a_fetch", done.images_a_fetch},
            {"fitting_batch", done.fitting_batch},
            {"fitting_images_a_fetch", done.fitting_images_a_fetch},
            {"text", batching.text}};
}

}  // namespace systole::report
