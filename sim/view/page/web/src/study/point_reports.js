// The reports of points inside a study's page: a line for each, its number and report.json, compressed (zlib) and in
// base64.

const lines = () => document.getElementById('point-reports').textContent.split('\n');

/// The numbers of the points whose reports the page has.
export function pointsWithReports() {
    return new Set(lines().map((line) => Number(line.slice(0, line.indexOf(' ')))));
}

/// Rejects if there is no such point.
export async function reportOfPoint(number) {
    const line = lines().find((each) => each.startsWith(`${number} `));
    const bytes = Uint8Array.from(atob(line.slice(line.indexOf(' ') + 1)), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return JSON.parse(await new Response(stream).text());
}
