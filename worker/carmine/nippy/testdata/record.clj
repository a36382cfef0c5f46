;; Records what the real Nippy writes, and reads what Go wrote. Run with Clojure, Nippy and what Nippy needs on the class path:
;;   java -cp … clojure.main record.clj freeze VERSION > frozen-VERSION.txt     values as Nippy VERSION freezes them
;;   java -cp … clojure.main record.clj thaw < fromgo.txt                       what Nippy makes of the first column
;; A line of the first is: name TAB what is expected TAB base64. What is expected is text, bytes (base64) or json, and the content, said by the
;; code below and not by Go's; or "refused".
(require '[taoensso.nippy :as nippy] '[clojure.string :as str])
(import '[java.util Base64])

(defn b64 [^bytes b] (.encodeToString (Base64/getEncoder) b))
(defn quoted [s]
  (str \" (str/join (map #(case % \" "\\\"" \\ "\\\\" \newline "\\n" \tab "\\t" \return "\\r" (str %)) s)) \"))
(declare say)
(defn text [x]
  (cond (string? x) x
        (or (keyword? x) (symbol? x)) (if-let [n (namespace x)] (str n "/" (name x)) (name x))
        (char? x) (str x)
        (instance? (Class/forName "[B") x) (b64 x)
        (instance? java.util.Date x) (str (.toInstant ^java.util.Date x))
        :else (str x)))
(defn say [x]
  (cond (nil? x) "null"
        (or (instance? Boolean x) (integer? x) (float? x)) (str x)
        (decimal? x) (.toPlainString ^BigDecimal x)
        (map? x) (str "{" (str/join "," (map (fn [[k v]] (str (quoted (text k)) ":" (say v))) x)) "}")
        (or (sequential? x) (set? x) (instance? clojure.lang.PersistentQueue x)) (str "[" (str/join "," (map say x)) "]")
        (and (.isArray (class x)) (not (instance? (Class/forName "[B") x))) (say (vec x))
        :else (quoted (text x))))
(defn expected [x]
  (cond (string? x) (str "text\t" (b64 (.getBytes ^String x "UTF-8")))
        (instance? (Class/forName "[B") x) (str "bytes\t" (b64 x))
        :else (str "json\t" (b64 (.getBytes ^String (say x) "UTF-8")))))

(defrecord Mail [to n])
(deftype Thing [x])
(def long-text (apply str (repeat 3000 "Ünïcode, ")))
(def values
  {"the-symptom" "{\"N\":0}" "empty-string" "" "text-127" (apply str (repeat 127 "x")) "text-128" (apply str (repeat 128 "y"))
   "text-255" (apply str (repeat 255 "x")) "text-300" (apply str (repeat 300 "z")) "text-40000" (apply str (repeat 40000 "ab"))
   "unicode" "hä? ☃ 𝄞 \t\"\\\n" "zero-first" "\u0000>x" "lz4-text" long-text
   "lz4-data" (vec (for [i (range 3000)] {:id i :name (str "job " (mod i 7)) :done (even? i)}))
   "bytes-0" (byte-array 0) "bytes-3" (byte-array [0 -1 78]) "bytes-200" (byte-array (range -100 100))
   "bytes-40000" (byte-array (map unchecked-byte (range 40000)))
   "nil" nil "true" true "false" false
   "longs" [0 1 -1 127 128 -127 -128 -129 255 256 -255 -256 32767 32768 -32768 -32769 65535 65536 -65535 -65536 2147483647 2147483648
            -2147483648 -2147483649 4294967295 4294967296 -4294967295 -4294967296 9223372036854775807 -9223372036854775807]
   "small-ints" [(byte 5) (short -300) (int 70000)]
   "big" [12345678901234567890123N -12345678901234567890123N 0N (biginteger 128) (biginteger -128)]
   "doubles" [0.0 1.5 -2.25 2.0 1234.5678 0.1] "float" [(float 0.1) (float 2)] "decimals" [1.23M -0.05M 100M 0M]
   "ratio" [1/3 -22/7]
   "keywords" [:a :b.c/d (keyword (apply str (repeat 100 "k"))) (keyword (apply str (repeat 200 "k")))]
   "keyword" :ping "symbols" '[a b/c] "char" [\a \ä \u2603]
   "map" {:to "ann" :n 3 :tags ["x" :y 'z] :nested {:deep {:deeper [1 2.5 nil true]}}}
   "string-keys" (array-map "a" 1 "b" 2) "number-keys" (array-map 1 :one 2 :two) "empty" [[] {} #{} () (lazy-seq nil)]
   "sets" [#{1} #{:a}] "list" '(1 2 3) "seq" (map inc (range 3)) "queue" (conj clojure.lang.PersistentQueue/EMPTY 1 2)
   "sorted" [(sorted-map :b 1 :a 2) (sorted-set 3 1 2)] "long-vector" (vec (range 300)) "vector-200" (vec (range 200))
   "long-list" (apply list (range 200)) "large-vector" (vec (repeat 40000 0))
   "wide-map" (zipmap (map #(keyword (str "k" %)) (range 200)) (range 200))
   "entry" [(first {:a 1})] "metadata" [(with-meta [1] {:line 3})]
   "date" (java.util.Date. 1700000000123) "uuid" #uuid "00112233-4455-6677-8899-aabbccddeeff"
   "cached" [(nippy/cache "foo") (nippy/cache "foo") (nippy/cache :k) (nippy/cache "foo") (nippy/cache :k)]
   "record" (->Mail "ann" 3)})
(def newer {"instant" '(java.time.Instant/ofEpochSecond 1700000000 5000000) "uri" '(java.net.URI. "http://x/y?z")
            "pattern" '(re-pattern "a+b") "period" '(java.time.Period/of 1 2 3)
            "ints" '(int-array [1 -2 70000]) "longs-array" '(long-array [1 -2]) "doubles-array" '(double-array [1.5 2.0])
            "strings" '(into-array String ["a" "b"]) "objects" '(object-array [1 "a" :k])})
(defn packed [name x opts] (try (println (str name "\t" (expected x) "\t" (b64 (nippy/freeze x opts)))) (catch Throwable _)))

(case (first *command-line-args*)
  "freeze"
  (do
    (doseq [[name x] (sort-by key values)] (println (str name "\t" (expected (if (= name "cached") ["foo" "foo" :k "foo" :k] x)) "\t" (b64 (nippy/freeze x)))))
    (doseq [[name form] (sort-by key newer)]
      (let [x (eval form) frozen (nippy/freeze x) id (aget frozen 4)]
        ;; what this version leaves to Java's serialisation or to the reader is refused
        (println (str name "\t" (if (#{75 76 46 50 6 47 51 52} id) "refused\t" (expected x)) "\t" (b64 frozen)))))
    (packed "snappy" {:to long-text} {:compressor nippy/snappy-compressor})
    (packed "lz4" {:to "x"} {:compressor nippy/lz4-compressor})
    (when-let [c (resolve 'taoensso.nippy/zstd-compressor)] (packed "zstd" {:to long-text} {:compressor @c}))
    (packed "plain" {:to long-text} {:compressor nil})
    (doseq [[name x opts] [["lzma2" "x" {:compressor nippy/lzma2-compressor}] ["encrypted" "x" {:password [:salted "p"]}]
                           ["serialised" (java.util.concurrent.Semaphore. 1) nil] ["deftype" (Thing. 1) nil]]]
      (try (println (str name "\trefused\t\t" (b64 (nippy/freeze x opts)))) (catch Throwable _))))
  "thaw"
  (doseq [line (line-seq (java.io.BufferedReader. *in*))]
    (let [[frozen] (str/split line #"\t") x (nippy/thaw (.decode (Base64/getDecoder) ^String frozen))]
      (println (str frozen "\t" (if (instance? (Class/forName "[B") x) (pr-str (vec x)) (pr-str x)))))))
(shutdown-agents)
