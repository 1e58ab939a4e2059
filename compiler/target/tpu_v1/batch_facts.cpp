#include "compiler/target/tpu_v1/batch_facts.h"

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "compiler/target/tpu_v1/network/accumulator_parts.h"

namespace systole::tpu_v1 {
namespace {

/// Weight tiles that an operation fetches.
std::uint64_t fetched_by(const Operation& operation) {
    const MatrixWork* work = std::get_if<ConvolveLines>(&operation);
    if (work == nullptr) work = std::get_if<MultiplyImages>(&operation);
    return work == nullptr || work->keep_weights ? 0 : work->tiles;
}

/// The images for which a weight tile is fetched, mean of all tiles; 0 without weights.
double images_a_fetch(const Schedule& schedule) {
    std::uint64_t fetched = 0;
    for (const Operation& operation : schedule.operations) fetched += fetched_by(operation);
    if (fetched == 0) return 0.0;
    return static_cast<double>(schedule.weight_tiles) * static_cast<double>(schedule.batches.inferences) /
           static_cast<double>(fetched);
}

/// The same inferences in other batches.
Schedule in_batches(const AnalysedNetwork& analysed, const Schedule& schedule, std::uint64_t batch) {
    mapping::Batches batches = schedule.batches;
    batches.batch = static_cast<std::uint32_t>(batch);
    return make_schedule(analysed, schedule.target, batches);
}

/// Chooses among the largest batch that fits and the largest of these whose images fill parts of the
/// accumulators, if each image is a row.
void find_fitting_batch(const AnalysedNetwork& analysed, const Schedule& schedule,
                        machine::BatchFacts& facts) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    std::uint64_t largest = std::min(facts.that_fit, most);
    Schedule fitting = in_batches(analysed, schedule, largest);
    if (fitting.memory.images_per_slice < largest) {
        // Transfers of several batches overlap, which takes memory: fewer fit than of one.
        largest = fitting.memory.images_that_fit;
        fitting = in_batches(analysed, schedule, largest);
    }
    facts.fitting_batch = largest;
    facts.fitting_images_a_fetch = images_a_fetch(fitting);
    const std::uint64_t whole_parts = largest / facts.rows_a_fetch * facts.rows_a_fetch;
    if (whole_parts == 0 || whole_parts == largest) return;
    const double images = images_a_fetch(in_batches(analysed, schedule, whole_parts));
    if (images < machine::BatchFacts::noticeable * facts.fitting_images_a_fetch) return;
    facts.fitting_batch = whole_parts;
    facts.fitting_images_a_fetch = images;
}

}  // namespace

machine::BatchFacts batch_facts(const AnalysedNetwork& analysed, const Schedule& schedule) {
    const MemoryPlan& memory = schedule.memory;
    const AccumulatorParts accumulators(schedule.target.accumulator_rows);
    machine::BatchFacts facts{
        .images = std::min<std::uint64_t>(schedule.batches.batch, schedule.batches.inferences),
        .at_a_time = memory.images_per_slice,
        .that_fit = memory.images_that_fit,
        .grouped_layers = memory.groups.layers,
        .group = memory.groups.images,
        .rows_a_fetch = accumulators.part(AccumulatorParts::halves),
        .images_a_fetch = images_a_fetch(schedule),
        .fitting_batch = 0,
        .fitting_images_a_fetch = 0.0};
    const bool fills_buffer = schedule.target.choices.slice_images == 0;
    if (fills_buffer && (facts.at_a_time < facts.images || facts.group > 0))
        find_fitting_batch(analysed, schedule, facts);
    return facts;
}

}  // namespace systole::tpu_v1
