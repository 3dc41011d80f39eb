// Each entry is a list of texts in their order, and the arguments of the comparison.
const sorted = (list, ...given) => [...list].reverse().sort((a, b) => a.localeCompare(b, ...given));
const orders = [
  ["_", "-", ",", "!", "\"", "(", "@", "$", "0", "1", "10", "2", "a", "A", "ab", "Ab", "AB", "b", "B", "z"].concat([]),
  ["cote", "coté", "côte", "côté", "fra", "Müller", "Mütze", "Mzz", "resume", "Resume", "résumé", "Résumé"],
  [["a2", "a02b", "a10"], "en-US", { numeric: true }],
  [["nz", "ñ", "ña", "o"], "es"],
  [["ñ", "ña", "nz", "o"], "de-DE"],
];
const wrong = [];
for (const entry of orders) {
  const [list, ...given] = Array.isArray(entry[0]) ? entry : [entry];
  if (sorted(list, ...given).join() !== list.join()) wrong.push(`${sorted(list, ...given)} is not ${list}`);
}
const same = [["a", "A", "base", true], ["a", "ä", "base", true], ["a", "ä", "accent", false], ["a", "A", "accent", true],
  ["a", "A", "case", false], ["a", "ä", "case", true], ["a", "A", "variant", false]];
for (const [a, b, sensitivity, equal] of same) {
  if ((a.localeCompare(b, undefined, { sensitivity }) === 0) !== equal) wrong.push(`${a} ${b} ${sensitivity}`);
}
const refused = [
  () => (1234.5).toLocaleString(), () => (1234.5).toLocaleString("de-DE"), () => [1234.5].toLocaleString(),
  () => new Date().toLocaleString(), () => new Date().toLocaleDateString("en-US", { timeZone: "Asia/Tokyo" }),
  () => new Date().toLocaleTimeString(), () => new Intl.NumberFormat("de"), () => Intl.DateTimeFormat(),
  () => "a".localeCompare("b", "sv"), () => "a".localeCompare("b", ["de-u-co-phonebk"]), () => "a".localeCompare("ж"),
  () => "a".localeCompare("b", "en", { caseFirst: "upper" }), () => "i".toLocaleUpperCase("tr"),
];
for (const run of refused) {
  try { wrong.push(`${run} gave ${run()}`); } catch (error) {
    if (!error.message.includes("available")) wrong.push(`${run}: ${error.message}`);
  }
}
if ("ßi".toLocaleUpperCase("de-DE") + "I".toLocaleLowerCase() !== "SSIi") wrong.push("letters");
r.body = wrong.join("\n");
