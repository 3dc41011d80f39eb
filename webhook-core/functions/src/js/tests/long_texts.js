// The names of the cases that fail are the body.
const failed = [];
const check = (name, given, wanted) => { if (given !== wanted) failed.push(name + ": " + String(given).slice(0, 99)); };

// A megabyte times 210 characters is more than the engine gets to compare in one step.
const part = "ab,".repeat(70), text = "ab,".repeat(350010), count = 5000, rest = "ab,".repeat(10);
const pieces = text.split(part);
check("split", pieces.length, count + 1);
check("split, the last", pieces[count], rest);
check("split, two", text.split(part, 2).join(), ",");
check("split, none", text.split(part, 0).length, 0);
check("split, not there", text.split("c" + part)[0], text);
check("replaceAll", text.replaceAll(part, "x"), "x".repeat(count) + rest);
check("replaceAll, $&", text.replaceAll(part, "[$&$$]").length, count * 213 + 30);
check("replaceAll, by place", text.replaceAll(part, (m, at, all) => (all === text && at % 420 ? "" : "y")), "y".repeat(2500) + rest);
check("replaceAll, not there", text.replaceAll("c" + part, ""), text);
check("replace", text.replace(part, "x"), "x" + text.slice(210));
check("replace, $'", text.replace("c," + part, "<$'>"), text);
check("replace, around", ("-" + text).replace(part, "<$`$$1>"), "-<-$1>" + text.slice(210));
check("indexOf", text.indexOf(part, 1), 3);
check("indexOf, behind the end", text.indexOf(part, 2e6), -1);
check("includes", text.includes("c" + part), false);
check("lastIndexOf", text.lastIndexOf(part), text.length - 210);
check("lastIndexOf, from", text.lastIndexOf(part, 100), 99);
check("lastIndexOf, before", text.lastIndexOf(part, -5), 0);
check("lastIndexOf, not there", text.lastIndexOf(part + "c"), -1);

// Replacements that the engine does not look through, beside those that it does.
const template = "$$|$&|$`|$'|$1|$2|$02|$10|$3|$0|$<k>|$<none>|$<|#|$x|$", pad = "-".repeat(300);
for (const [name, pattern] of [["captures", /(b)(x)?/g], ["groups", /(?<k>b)(c)/g], ["one", /b/], ["empty", /(?:)/g]]) {
  const wanted = "abcabc".replace(pattern, template + "|").replaceAll("#", pad);
  check("template, " + name, "abcabc".replace(pattern, template.replace("#", () => pad) + "|"), wanted);
}
const tail = "c".repeat(2e5), places = "$$|$&|$`|$1|$<k>|#|$x|$";
check("template, text", ("ab" + tail).replaceAll("b", places.replace("#", () => pad)),
  ("ab" + tail).replaceAll("b", places).replace("#", () => pad));

// Orders, with and without a function that the prelude puts in.
const texts = ["b".repeat(5e4), "a", undefined, 10, 9, "b".repeat(5e4 - 1), "B"];
const many = [...texts, ...new Array(2e3).fill("m".repeat(3e3))];
const ordered = many.toSorted().filter((t, i, all) => t !== all[i - 1] || t === undefined).map((t) => String(t).length);
check("toSorted", ordered.join(), "2,1,1,1,49999,50000,3000,9");
check("sort", [...many].sort().length, many.length);
const numbers = new Float64Array(3e5);
numbers.set([3, NaN, 0, -0, -1, Infinity, -Infinity, NaN]);
numbers.sort();
check("typed sort", [numbers[0], numbers[1], 1 / numbers[2], 1 / numbers[3], numbers[299996], numbers[299997], numbers[299998],
  numbers[299999]].join(), "-Infinity,-1,-Infinity,Infinity,3,Infinity,NaN,NaN");

// Lists and maps of long texts.
const long = "x".repeat(5000), other = long + "y", list = [1, other, long, other];
check("list.indexOf", [list.indexOf("x".repeat(5000)), list.indexOf(other, 2), list.indexOf(other, -1), list.indexOf(long + "z")].join(), "2,3,3,-1");
check("list.includes", [list.includes(long, 2), list.includes(long, 3), list.includes(long, -9)].join(), "true,false,true");
check("list.lastIndexOf", [list.lastIndexOf(other), list.lastIndexOf(other, 2), list.lastIndexOf(other, -4)].join(), "3,1,-1");
const map = new Map([[long, 1]]), set = new Set([long, other, long]);
check("map", [map.get("x".repeat(5000)), map.has(other), map.delete(long), map.size, map.set(long, 2) === map].join(), "1,false,true,0,true");
check("set", [set.size, set.has(long), set.delete(other), set.add(other) === set].join(), "2,true,true,true");

// Typed arrays of whatever holds numbers.
const eight = new Uint8Array([1, 2]), words = new Uint8Array(4);
words.set({ length: 2, 0: 7, 1: 8 }, 1);
words.set([9]);
check("typed", [eight, words, new Uint8Array({ length: 2, 0: 3 }), new Uint8Array(eight), new Uint8Array(eight.buffer, 1), new Uint8Array(2),
  new Uint8Array(new Set([4, 5])), Uint8Array.from({ length: 2 }, (_, i) => i), Uint8Array.from("12"), new Uint8Array()].join("|"),
  "1,2|9,7,8,0|3,0|1,2|2|0,0|4,5|0,1|1,2|");

// What scripts may look at stays as it was.
for (const [owner, key, length] of [[String.prototype, "replaceAll", 2], [String.prototype, "replace", 2], [String.prototype, "split", 2],
  [String.prototype, "lastIndexOf", 1], [String.prototype, "includes", 1], [Array.prototype, "sort", 1], [Array.prototype, "indexOf", 1],
  [Map.prototype, "set", 2], [Map.prototype, "get", 1], [Set.prototype, "add", 1], [Uint8Array.prototype, "sort", 1]]) {
  check(key, owner[key].name + owner[key].length, key + length);
}
check("no constructor", (() => { try { new "".split(); return "made"; } catch (e) { return e.name; } })(), "TypeError");
check("no text", (() => { try { String.prototype.replaceAll.call(null, "a", "b"); } catch (e) { return e.name; } })(), "TypeError");
check("no g", (() => { try { "a".replaceAll(/a/, "b"); } catch (e) { return e.name; } })(), "TypeError");
check("includes a pattern", (() => { try { "a".includes(/a/); } catch (e) { return e.name; } })(), "TypeError");
check("own replacer", "abc".replace({ [Symbol.replace]: (text, by) => text + by }, "!"), "abc!");
check("own splitter", "abc".split({ [Symbol.split]: (text, most) => [text, most] }, 5).join(), "abc,5");
check("no text given", "a undefined b".replace(undefined, "x"), "a x b");
r.body = failed.join("\n");
