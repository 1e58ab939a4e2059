#include "sim/view/report/batching.h"

#include <fmt/format.h>

#include "hw/base/arithmetic.h"
#include "sim/view/report/numbers.h"

namespace systole::report {
namespace {

/// How the batch goes through the chip.
std::string way_of(const Batching& batching) {
    const run::BatchFacts& done = batching.done;
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
    const run::BatchFacts& done = batching.done;
    if (done.images_a_fetch == 0.0) return {};
    const std::string again = fmt::format(
        "; each {}, and each {} rows of it (half of the accumulators), fetches the weights again: a tile for "
        "{} "
        "images here",
        batching.slices > 1 ? "slice" : "group", grouped(done.rows_a_fetch), amount(done.images_a_fetch, ""));
    constexpr double noticeable = 1.01;
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

Batching make_batching(std::uint64_t asked, const run::BatchFacts& done) {
    Batching batching{
        .asked = asked, .done = done, .slices = divide_up(done.images, done.at_a_time), .text = {}};
    if (batching.slices > 1 || done.grouped_layers > 0) batching.text = way_of(batching) + cost_of(batching);
    return batching;
}

nlohmann::ordered_json to_json(const Batching& batching) {
    const run::BatchFacts& done = batching.done;
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
