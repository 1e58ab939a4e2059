// Keeps what a sorting table is given.
export class Tabulator {
    static registerModule() {}

    constructor(place, options) {
        this.options = options;
        place.tabulator = options;
    }

    on() {}
}

export const DataTreeModule = {};
export const FilterModule = {};
export const FormatModule = {};
export const ResizeColumnsModule = {};
export const ResizeTableModule = {};
export const SortModule = {};
