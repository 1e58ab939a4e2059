#include "compiler/target/tpu_v1/scheduled_network.h"

#include <utility>

namespace systole::tpu_v1 {

ScheduledNetwork schedule_network(const Network& network, const Target& target,
                                  const mapping::Batches& batches) {
    MappedNetwork mapped = choose_mapping(network, target, batches);
    Schedule schedule = make_schedule(mapped.analysed, mapped.target, batches);
    return {.mapped = std::move(mapped), .schedule = std::move(schedule)};
}

}  // namespace systole::tpu_v1
