;; Enqueues with the real Carmine, or handles with its worker. Run with Clojure, Carmine and what it needs on the class path:
;;   java -cp … clojure.main beside.clj enqueue|work PORT QUEUE
(require '[taoensso.carmine :as car :refer [wcar]] '[taoensso.carmine.message-queue :as mq])
(let [[what port q] *command-line-args*
      conn {:pool {} :spec {:host "127.0.0.1" :port (Integer/parseInt port)}}
      values {"text" "{\"N\":0}" "map" {:to "ann" :n 3} "bytes" (byte-array [0 -1 78]) "nil" nil "keyword" :ping "number" 42
              "big" (apply str (repeat 5000 "long text ")) "set" #{1} "java" (java.util.concurrent.Semaphore. 1)}]
  (case what
    "enqueue" (doseq [[mid v] values] (println mid (pr-str (wcar conn (mq/enqueue q v mid))))) ; 3.2 and later take {:mid mid} too
    "work" (let [w (mq/worker conn q {:handler (fn [{:keys [mid message attempt]}]
                                                 (println mid attempt (if (instance? (Class/forName "[B") message) (vec message) (pr-str message)))
                                                 {:status :success})
                                      :throttle-ms 20 :eoq-backoff-ms 100})]
             (Thread/sleep 4000)
             (mq/stop w))))
(shutdown-agents)
(System/exit 0)
